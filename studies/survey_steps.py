"""Adaptive against equal steps on chains of 2 to 20 pendula (mechanics survey, figures 8 and 10)."""

import numpy as np
from matplotlib.figure import Figure

from studies.report import Claim, Options, Progress, Report
from studies.survey_pendula import Compared, compared, planar, stretched

LINKS = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
WHOLE_M = 5.0
SURVEYS = (1.5e-5, 3.0e-5, 3.5e-5, 1.4e-4)
"""Errors of the survey's program with twenty links: of 1 m adaptive and equal steps, of 5 m together the same."""


def run(options: Options, progress: Progress) -> Report:
    """RKMK(5,4) with the tolerance 1e-6 over 3 s, and RKMK 5 with as many equal steps."""
    rows = []
    unit, shared = list[Compared](), list[Compared]()
    for i, links in enumerate(LINKS):
        progress(f"{links} links", i / len(LINKS))
        unit.append(compared(lambda n: 1.0, planar, links))
        shared.append(compared(lambda n: WHOLE_M / n, stretched, links))
        for what, one in (("1 m", unit[-1]), ("5 m / N", shared[-1])):
            rows.append((what, links, one.run.accepted, one.run.rejected, one.adaptive, one.constant))
    two, twenty, fine = unit[0], unit[-1], shared[-1]
    claims = [
        Claim(
            "Two links: 117 steps are accepted and 17 rejected, as by the survey's program.",
            (two.run.accepted, two.run.rejected) == (117, 17),
            f"{two.run.accepted} and {two.run.rejected}",
        ),
        Claim(
            "Adapting helps there, hundredfold, and hardly with twenty links of 1 m (figure 8).",
            two.adaptive < 0.01 * two.constant and twenty.adaptive > 0.3 * twenty.constant,
            f"{two.adaptive:.2e} against {two.constant:.2e}; {twenty.adaptive:.2e} against {twenty.constant:.2e}",
        ),
        Claim(
            "Where the length is shared it helps with twenty links, too (figure 10).",
            fine.adaptive < 0.5 * fine.constant,
            f"{fine.adaptive:.2e} against {fine.constant:.2e}",
        ),
    ]
    ours = (twenty.adaptive, twenty.constant, fine.adaptive, fine.constant)
    claims.append(
        Claim(
            "Errors with twenty links are those of the survey's program, within a fifth.",
            all(abs(a / b - 1) < 0.2 for a, b in zip(ours, SURVEYS, strict=True)),
            ", ".join(f"{a:.2e} ({b:.1e})" for a, b in zip(ours, SURVEYS, strict=True)),
        )
    )
    figure = Figure(figsize=(11, 7))
    for row, (title, ones) in zip(
        figure.subplots(2, 2), (("1 m each", unit), ("5 m together", shared)), strict=True
    ):
        row[0].semilogy(LINKS, [c.constant for c in ones], "s-", ms=3, label="RKMK 5, equal steps")
        row[0].semilogy(LINKS, [c.adaptive for c in ones], "o-", ms=3, label="RKMK(5,4)")
        row[0].set_title(f"error after 3 s, {title}", fontsize=9)
        row[0].legend(fontsize=7)
        row[0].set_xlabel("links", fontsize=8)
        row[0].set_xticks(LINKS)
        last = ones[-1].run
        row[1].plot(last.time[:-1], np.diff(last.time), lw=0.8)
        row[1].axhline(3.0 / last.accepted, ls="--", lw=0.8)
        row[1].set_title("steps of twenty links [s]", fontsize=9)
        row[1].set_xlabel("s", fontsize=8)
    figure.tight_layout()
    return Report(("lengths", "links", "accepted", "rejected", "adaptive", "constant"), rows, figure, claims)
