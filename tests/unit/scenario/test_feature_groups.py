"""Groups of exclusive features are guessed from names and from `cfg` in sources."""

import pytest

from bench_framework.scenario.feature_groups import allocator_of, groups, settings


def members(features: dict[str, list[str]], *sources: str) -> dict[str, dict[str, str]]:
    return {group.axis: dict(group.features) for group in groups(features, sources)}


def test_alternatives_are_recognised_by_their_names() -> None:
    names = ["use-jemalloc", "mimalloc", "rustls-tls", "native-tls", "backend_a", "backend-b"]
    assert members({name: [] for name in names}) == {
        "allocator": {"jemalloc": "use-jemalloc", "mimalloc": "mimalloc"},
        "tls": {"rustls": "rustls-tls", "native-tls": "native-tls"},
        "backend": {"a": "backend_a", "b": "backend-b"},
    }


def test_one_allocator_is_a_group_and_one_runtime_is_none() -> None:
    features: dict[str, list[str]] = {"tikv-jemallocator": [], "tokio": [], "jemalloc-stats": []}
    assert members(features) == {"allocator": {"jemalloc": "tikv-jemallocator"}}


def test_a_feature_is_preferred_to_the_dependency_that_it_includes() -> None:
    for names in (["jemallocator", "use-jemalloc"], ["use-jemalloc", "jemallocator"]):
        features = {name: ["jemallocator"] if name == "use-jemalloc" else [] for name in names}
        assert members(features) == {"allocator": {"jemalloc": "use-jemalloc"}}


@pytest.mark.parametrize(
    "source",
    [
        '#[cfg(all(feature = "a", feature = "b"))]\ncompile_error!("one of them");',
        (
            '#[cfg(all(feature = "a", not(feature = "b")))] mod x;\n'
            '#[cfg(all(feature = "b", not(feature = "a")))] mod x;'
        ),
        (
            'if cfg!(all(feature = "a", not(feature = "b"))) {}\n'
            '#[cfg(not(any(feature = "b", unix, feature = "a")))] mod y;'
        ),
    ],
)
def test_sources_show_that_two_features_are_exclusive(source: str) -> None:
    assert members({"a": [], "b": [], "c": []}, source) == {"feature": {"a": "a", "b": "b"}}


@pytest.mark.parametrize(
    "source",
    [
        '#[cfg(all(feature = "a", not(feature = "b")))] mod only_one_direction;',
        '#[cfg(any(feature = "a", feature = "b"))] mod both;',
        '#[cfg(not(any(feature = "a", feature = "b")))]\ncompile_error!("none");',
        '#[cfg(all(feature = "a", feature = "unknown"))] compile_error!("x");',
        '#[cfg(all(feature = "a", not(feature = "b"',
    ],
)
def test_other_conditions_show_nothing(source: str) -> None:
    assert members({"a": [], "b": []}, source) == {}


def test_connected_pairs_are_one_group() -> None:
    refused = '#[cfg(all(feature = "{}", feature = "{}"))]\ncompile_error!("");\n'
    source = refused.format("a", "b") + refused.format("b", "c") + refused.format("d", "e")
    expected = {"feature": {"a": "a", "b": "b", "c": "c"}, "feature-2": {"d": "d", "e": "e"}}
    assert members({name: [] for name in "abcdef"}, source) == expected


def test_without_a_default_the_baseline_has_no_feature() -> None:
    features: dict[str, list[str]] = {"jemalloc": [], "mimalloc": []}
    (group,) = groups(features, [])
    assert settings(group, features) == {
        "system": {},
        "jemalloc": {"features": ["jemalloc"]},
        "mimalloc": {"features": ["mimalloc"]},
    }


def test_another_value_than_the_default_keeps_the_other_default_features() -> None:
    features = {"default": ["rustls", "gzip"], "rustls": [], "native-tls": [], "gzip": []}
    (group,) = groups(features, [])
    other = {"no-default-features": True, "features": ["gzip", "native-tls"]}
    assert settings(group, features) == {"rustls": {}, "native-tls": other}
    alone = {"default": ["mimalloc"], "mimalloc": []}
    (group,) = groups(alone, [])
    assert settings(group, alone) == {"mimalloc": {}, "system": {"no-default-features": True}}


@pytest.mark.parametrize(
    "default", [["app"], ["rustls", "native-tls"], ["rustls", "dep:x"], ["rustls", "app"]]
)
def test_a_member_that_the_default_features_need_is_not_varied(default: list[str]) -> None:
    features = {"default": default, "app": ["rustls"], "rustls": [], "native-tls": []}
    (group,) = groups(features, [])
    assert settings(group, features) == {}


def test_allocators_among_dependencies_are_recognised() -> None:
    names = ["tikv-jemallocator", "mimalloc", "snmalloc-rs", "serde", "rustls"]
    expected = ["jemalloc", "mimalloc", "snmalloc", None, None]
    assert [allocator_of(name) for name in names] == expected
