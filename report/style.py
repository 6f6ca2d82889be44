# SPDX-License-Identifier: Apache-2.0
"""Names and colours: every provider looks the same in every plot, on light and on dark ground.

Colours are tokens ("color:std") in the figures; each renderer looks them up in a palette. The
palettes follow Okabe and Ito, and Tol, so that they survive the common colour-vision deficiencies;
dashes and markers repeat the distinction.
"""

from __future__ import annotations

from report.registry import WAITS

# On light and on dark ground.
COLOURS = {
    "text": ("#1b1f24", "#e6e9ed"),
    "muted": ("#5b6470", "#9aa4b2"),
    "grid": ("#e3e6ea", "#2c333c"),
    "ground": ("#ffffff", "#12161b"),
    "floor": ("#6b7280", "#98a2b0"),
    "bad": ("#b42318", "#ff8a80"),
    "tutti": ("#0b5cad", "#58a6ff"),
    "tutti1": ("#3d8fd6", "#3f83cf"),
    "tutti2": ("#6aaee6", "#8cc4ff"),
    "tutti3": ("#27a3b8", "#3fc3d6"),
    "tutti4": ("#5b7fd1", "#8fa6f0"),
    "pthread": ("#d55e00", "#ff8c42"),
    "std": ("#c98a00", "#f0b429"),
    "boost": ("#b0509a", "#e08bcb"),
    "libgomp": ("#00825f", "#2fc79b"),
    "libomp": ("#882255", "#d9739f"),
    "tbb": ("#7a7a1f", "#bdbd4a"),
    "openmpi": ("#8c510a", "#d0945a"),
    "mpich": ("#bf812d", "#dfb26f"),
    "absl": ("#9b4dca", "#c79bee"),
    "mutex_condvar": ("#6b4f3a", "#c4a484"),
    "std_thread": ("#a3004f", "#ff7ab0"),
    "forkunion": ("#2e6f40", "#7fc98f"),
    "rayon": ("#b7410e", "#ff9a6b"),
    "eigen": ("#5a5a8c", "#b0b0e0"),
    "clock_tree": ("#b42318", "#ff8a80"),
    "raxml": ("#00825f", "#2fc79b"),
    "libpll": ("#b0509a", "#e08bcb"),
    "other": ("#555555", "#b0b0b0"),
}
LIGHT = {name: light for name, (light, _) in COLOURS.items()}
DARK = {name: dark for name, (_, dark) in COLOURS.items()}

MARKERS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x"]
DASHES = ["solid", "dash", "dot", "dashdot"]


def look(place: int) -> tuple[str, str]:
    """Dash and marker of the line at this place in a panel whose lines have four shades in turn: a
    shade that comes again has another dash.
    """
    return DASHES[(place + place // 4) % 4], MARKERS[place % 7]


# The mechanisms of notifications in a kernel by their names in the lines: words and colour.
MECHANISMS = {
    "polling": ("memory polling", "color:floor"),
    "event_shortcut": ("event, short cut", "color:tutti"),
    "interrupt": ("interrupt (IPI)", "color:pthread"),
    "event": ("event through the tables", "color:tutti3"),
    "condition_kick": ("condition variable with kick", "color:libgomp"),
    "condition": ("condition variable", "color:libomp"),
}
# The topologies of barriers between hosts by their names in the lines: colour and marker.
TOPOLOGIES = {
    "ring": ("color:pthread", "circle"),
    "tree": ("color:libgomp", "square"),
    "star": ("color:tutti", "diamond"),
    "butterfly": ("color:boost", "triangle-up"),
    "dissemination": ("color:std", "triangle-down"),
    "switch": ("color:libomp", "cross"),
}
# What Arap et al. compare with.
MPIS = {"openmpi": ("color:muted", "circle"), "mpich": ("color:text", "square")}

PEER_LABELS = {
    "pthread": "pthread_barrier", "std": "std::barrier", "boost": "boost::barrier",
    "libgomp": "libgomp",
    "libomp": "libomp", "tbb": "oneTBB", "absl": "absl::Barrier", "abseil": "absl::Barrier",
    "openmpi": "Open MPI",
    "mpich": "MPICH", "mutex_condvar": "mutex + condvar", "std_thread": "std::thread a region",
    "raxml": "RAxML",
    "forkunion": "ForkUnion", "rayon": "Rayon", "eigen": "Eigen",
    "libpll": "libpll", "clock_tree": "clock tree",
}
# What a peer's name means where it has several things.
ITEMS = {
    ("std", "mutex_condvar"): "deque + mutex + condvar",
    ("boost", "lockfree_spsc"): "boost::lockfree::spsc_queue",
    ("tbb", "concurrent_queue"): "tbb::concurrent_queue", ("clock_tree", "sampled"): "sampled sums",
    ("clock_tree", "messages"): "clock tree",
}
ALIASES = {"abseil": "absl", "gomp": "libgomp", "omp": "libomp"}
TEAMS_OF_LIBPLL = {"pthread": "pthread_barrier", "tutti": "tutti's team"}
PLAIN_NAMES = {
    "", "default", "barrier", "pthread_barrier", "std::barrier", "boost::barrier", "absl::Barrier",
    "mutex+condvar", "std::thread",
}

# The wait policy that a name without a suffix stands for.
USUAL_WAIT = "adaptive"


def is_tutti(provider: str) -> bool:
    return provider == "tutti"


def is_default(row: dict) -> bool:
    """The barrier that most users get: tutti's default with its default wait."""
    return (
        is_tutti(row["provider"]) and row["name"] == "default" and row["wait"] in ("", USUAL_WAIT)
    )


def label(row: dict) -> str:
    """What a reader calls this contender."""
    provider, name = row["provider"], row["name"]
    if is_tutti(provider):
        base = "tutti default" if name == "default" else name.replace("_", " ")
        return base if row["wait"] in ("", USUAL_WAIT) else f"{base} / {row['wait']}"
    peer = PEER_LABELS.get(provider, provider)
    if name.endswith(" pool"):
        return f"{peer} pool"
    if provider == "libpll":
        return f"libpll, {TEAMS_OF_LIBPLL.get(name, name)}"
    return peer if name in PLAIN_NAMES or name == provider else f"{peer} {name}"


def peer_label(row: dict) -> str:
    """The label of a peer whose name says which of its parts was measured: a queue, a call of MPI.
    """
    if row["name"] == "barrier":
        return {"std": "std::barrier", "pthread": "pthread_barrier"}.get(
            row["provider"], f"{row['provider']} barrier"
        )
    return ITEMS.get((row["provider"], row["name"])) or label(row)


def color(provider: str) -> str:
    provider = ALIASES.get(provider, provider)
    return f"color:{provider if provider in LIGHT else 'other'}"


def tutti_shade(index: int) -> str:
    """Shades of the family's hue for the algorithms beside the default."""
    return f"color:tutti{1 + index % 4}"


def resolve(token: str, palette: dict[str, str]) -> str:
    return palette[token.removeprefix("color:")] if token.startswith("color:") else token
