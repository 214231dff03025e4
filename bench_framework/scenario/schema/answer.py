"""The part `answer` of a scenario: how the outputs of runs are compared."""

from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from bench_framework.scenario import scalars
from bench_framework.scenario.document import Scalar
from bench_framework.scenario.schema.types import (
    ONE_OF,
    SCALARS,
    Part,
    ValueName,
    Words,
    also_as,
    read_by,
)

_DIFFERS: Final = {"type": "string", "pattern": r"^(refuse|warn|<\s*[0-9]+(\.[0-9]+)?\s*%)$"}
EDITS: Final = ("compare", "filter", "extract", "ignore", "json", "tolerance", "differs")
"""Keys that have no effect together with `check`."""


Several: TypeAlias = Annotated[
    list[ValueName],
    BeforeValidator(lambda value: value if isinstance(value, list) else [value]),
    WithJsonSchema(SCALARS),
]
"""One text, or a list of texts."""


class JsonPart(Part):
    """Outputs that are compared as JSON values."""

    ignore: Several
    """Keys that are removed from every object before comparing."""


class AnswerPart(Part):
    """How the output of runs is compared, to check that they did the same work.

    One word is the value of `compare`.
    """

    model_config = also_as(enum=["exact", "sorted-lines", "json", "none"])

    compare: Annotated[Literal["exact", "sorted-lines", "json", "none"], ONE_OF] = "exact"
    """`exact`: equal bytes. `sorted-lines`: equal lines in any order. `json`: equal JSON values.
    `none`: outputs are not compared."""
    filter: Words = []
    """Command that reads the output from stdin and prints what is compared, such as `[jq, .rows]`."""
    extract: ValueName | None = None
    """Regular expression. Only its matches are compared, or their groups if it has groups."""
    ignore: Several = []
    """Regular expressions. Their matches are removed before comparing."""
    json_part: JsonPart | None = Field(default=None, alias="json")
    """`{ignore: [KEY…]}`: compare JSON values without these keys."""
    tolerance: Annotated[
        float, read_by(scalars.tolerance), WithJsonSchema({"type": ["number", "string"]})
    ] = 0.0
    """Largest relative difference of two numbers that count as equal, such as `1e-6`. The text
    around the numbers must be equal."""
    differs: Annotated[
        Literal["refuse", "warn"] | float, read_by(scalars.differs), WithJsonSchema(_DIFFERS)
    ] = "refuse"
    """Effect of another output than the baseline's. `refuse`: the variant is not compared. `warn`:
    it is compared, with a warning. `"<0.1%"`: it is compared, with a warning, if a smaller share of
    its lines differs."""
    check: Words = []
    """Command that reads the output from stdin and decides: exit code 0 means that it is right.
    Outputs are then not compared with each other."""
    file: ValueName | None = None
    """File with the output to compare, instead of stdout."""
    stdout: Annotated[Literal["file", "pipe", "null"], ONE_OF] = "file"
    """Destination of the program's stdout during timed runs."""

    @model_validator(mode="before")
    @classmethod
    def _kind_alone(cls, value: Any) -> Any:
        return {"compare": value} if isinstance(value, Scalar) else value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        given = [key for key in (*EDITS, "check") if self.is_given(key)]
        for key in given:
            unused = key != "compare" and self.compare == "none"
            self.refuse_unused(unused, key, "has no effect with `compare: none`")
            unused = key != "check" and "check" in given
            self.refuse_unused(unused, key, "has no effect with `check`, which alone decides")
            lost = key != "compare" and self.stdout != "file" and self.file is None
            self.refuse_unused(lost, key, f"has no effect with `stdout: {self.stdout}`")
        wrong = self.json_part is not None and "compare" in given and self.compare != "json"
        self.refuse(wrong, f"`json` contradicts `compare: {self.compare}`", "json")
        lines = isinstance(self.differs, float) and self.kind == "json"
        message = "`differs` counts lines, and JSON values have none"
        self.refuse(lines, message, "differs", advice="use a filter, such as filter: [jq, '.[]']")
        return self

    def is_given(self, key: str) -> bool:
        """Return whether the scenario sets one of `EDITS` or `check`, to another value than none."""
        name = "json_part" if key == "json" else key
        return name in self.model_fields_set and getattr(self, name) not in ([], None, "refuse")

    @property
    def kind(self) -> Literal["exact", "sorted-lines", "json", "none"]:
        """Return the kind of comparison."""
        return "json" if self.json_part is not None else self.compare
