"""A plan in words: tables of jobs and hours, the longest chain, and what each number rests on."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from workflow_scripts.plan.jobs import Cost, Job, in_order, total
from workflow_scripts.plan.rates import Rates

GPUS = (1, 8, 32)
Row = Sequence[str]


def to_do(jobs: Sequence[Job], costs: Mapping[int, Cost | None]) -> list[str]:
    """Return the table of what is left, one line per rule."""
    rows: list[Row] = [["rule", "jobs", "GPU time", "CPU time", "disk", "download"]]
    for rule, some in _by_rule(jobs):
        known = [cost for job in some if (cost := costs[job.number]) is not None]
        rows.append([rule, str(len(some)), *(_amounts(total(known)) if known else ["not estimated", *"---"])])
    every = total(cost for cost in costs.values() if cost is not None)
    return _aligned([*rows, ["total", str(len(jobs)), *_amounts(every)]], ruled=True)


def done(jobs: Sequence[Job], planned: Mapping[int, Cost | None], used: Mapping[int, Cost | None]) -> list[str]:
    """Return the table of what is done, planned against used; a job without a record counts on neither side."""
    heads = ["rule", "jobs", "recorded", "GPU time planned", "used", "CPU time planned", "used"]
    rows: list[Row] = [heads]
    sums = Cost(), Cost()
    for rule, some in _by_rule(jobs):
        both = [(plan, use) for job in some if (plan := planned[job.number]) and (use := used.get(job.number))]
        if not both:
            continue
        plan, use = (total(side) for side in zip(*both, strict=True))
        sums = sums[0] + plan, sums[1] + use
        rows.append([rule, str(len(some)), str(len(both)), *_sides(plan, use)])
    return _aligned([*rows, ["total", str(len(jobs)), "", *_sides(*sums)]], ruled=True)


def shared(used: Cost, wall: float, own: float) -> list[str]:
    """Return for how long jobs ran on GPUs, how many at once, and what of that is theirs if others ran beside them."""
    if not wall:
        return []
    lines = [f"jobs held GPUs for {duration(wall)} of wall time, {used.gpu / wall:.1f} at once"]
    theirs = f"other jobs of the study ran beside them; divided evenly, {duration(own)} of it are theirs"
    return [*lines, theirs] if own < wall * (1 - 1e-9) else lines


def chain(seconds: float, jobs: Sequence[Job], costs: Mapping[int, Cost | None], every: Cost) -> list[str]:
    """Return the longest chain in words, and what that means for several GPUs."""
    parts = [(job, (costs[job.number] or Cost()).seconds) for job in jobs]
    lines = [f"longest chain: {duration(seconds)}"]
    lines += [f"    {duration(own):>9}  {job.rule}{_named(job)}" for job, own in parts if own]
    if every.gpu:
        times = [f"{count} GPU{'s' if count > 1 else ''} {duration(max(seconds, every.gpu / count))}" for count in GPUS]
        lines.append(f"at best, queueing aside: {', '.join(times)}")
    return lines


def missing(jobs: Sequence[Job], costs: Mapping[int, Cost | None]) -> list[str]:
    """Return the rules that have no estimate, with their jobs: their cost is not 0 but unknown."""
    unknown = [job for job in jobs if costs[job.number] is None]
    return [f"not estimated: {rule}, {len(some)} jobs" for rule, some in _by_rule(unknown)]


def assumptions(rates: Rates) -> list[str]:
    """Return every rate that was used, with its source."""
    rows = [
        [name.replace("device.", "device: "), f"{float(entry['value']):g}", entry["unit"], entry["source"]]
        for name, entry in sorted(rates.used.items())
    ]
    return _aligned(rows, left=4)


def duration(seconds: float) -> str:
    """Return seconds in the unit that fits; hours are never made days, because allocations are counted in hours."""
    for unit, name in ((3600, "h"), (60, "min")):
        if seconds >= unit:
            value = seconds / unit
            return f"{value:,.0f} {name}" if value >= 100 else f"{value:.1f} {name}"
    return f"{seconds:.1f} s" if seconds else "-"


def size(count: float) -> str:
    """Return bytes in the unit that fits."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count / 1e3:.3g} kB" if count else "-"


def _amounts(cost: Cost) -> list[str]:
    return [duration(cost.gpu), duration(cost.cpu), size(cost.disk), size(cost.download)]


def _sides(plan: Cost, use: Cost) -> list[str]:
    return [duration(plan.gpu), duration(use.gpu), duration(plan.cpu), duration(use.cpu)]


def _by_rule(jobs: Sequence[Job]) -> list[tuple[str, list[Job]]]:
    return [(rule, list(some)) for rule, some in groupby(in_order(jobs), key=lambda job: job.rule)]


def _named(job: Job) -> str:
    return f" ({'.'.join(job.wildcards.values())})" if job.wildcards else ""


def _aligned(rows: Sequence[Row], left: int = 1, ruled: bool = False) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    lines = [
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    rule = "-" * max(map(len, lines), default=0)
    return [lines[0], rule, *lines[1:-1], rule, lines[-1]] if ruled else lines
