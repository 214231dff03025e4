"""A published report with the claims that a scenario tests."""

from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from bench_framework.model.published import EXAMPLES
from bench_framework.scenario.schema.types import Part, Text

TESTS: Final = ("contrast", "variant", "derived", "scaling", "not-testable")
"""Keys of which each claim has one."""


class PublishedClaimPart(Part):
    """A claim of a published report, and what tests it."""

    claim: Text
    """The claim, quoted."""
    figure: Text | None = None
    """The figure as published: `2.1x faster`, `-17 %`, `60-70 % less`, `within 0.5 %`,
    `at most 5 % slower`, `12 MB`, `linear`, or only `faster`, `slower`, `less`, `more`, `equal`.
    Not needed with `not-testable`."""
    contrast: Text | None = None
    """Name of the contrast that tests the claim."""
    variant: Annotated[dict[Text, Text], Field(min_length=1)] | None = None
    """Axis values of the variant that tests the claim, or `{experiment: NAME}`. A change or a
    direction is tested against the baseline, a value by the variant alone. An omitted axis has the
    baseline's value."""
    derived: Text | None = None
    """Name of the derived value that tests the claim."""
    scaling: dict[Text, Text] | None = None
    """Axis values of the variant whose scaling exponents test the claim. An omitted axis has the
    baseline's value."""
    not_testable: Text | None = Field(default=None, alias="not-testable")
    """Reason why this scenario cannot test the claim."""
    input: dict[Text, Text] = {}
    """Values of input axes. Without them, the claim is tested on every input and must hold on each
    of them."""
    metric: Text | None = None
    """Metric of `variant` or `scaling`. Default: the first of `judge`."""

    @property
    def test(self) -> str:
        """The key that says what tests the claim."""
        return next(key for key in TESTS if self._given(key))

    def _given(self, key: str) -> bool:
        return getattr(self, key.replace("-", "_")) is not None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        given = [key for key in TESTS if self._given(key)]
        keys = ", ".join(f"`{key}`" for key in TESTS)
        self.need(given, f"a published claim needs one of {keys}")
        message = f"a published claim has both `{given[0]}` and `{given[-1]}`"
        self.refuse(len(given) > 1, message, given[-1])
        advice = f"such as {EXAMPLES}"
        figure = self.figure or self.not_testable is not None
        self.need(figure, "a published claim needs `figure`", advice)
        users = {"input": ("contrast", "variant", "derived"), "metric": ("variant", "scaling")}
        for key, takes in users.items():
            unused = key in self.model_fields_set and given[0] not in takes
            self.refuse_unused(unused, key, f"has no effect with `{given[0]}`")
        return self


class PublishedPart(Part):
    """A published report whose claims the scenario tests."""

    title: Text
    """Title of the report."""
    url: Text = ""
    """Address of the report."""
    date: Text = ""
    """Date of the report."""
    decisions: bool = False
    """True if each `decision` of an experiment is that of the report. The table of experiments then
    says so next to the measured result."""
    claims: Annotated[list[PublishedClaimPart], Field(min_length=1)]
    """The claims, in the order of the report."""
