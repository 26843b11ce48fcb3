"""Make the demo's recorded answers out of the public XSTest files.

    python tools/make_xstest_demo.py XSTEST_FOLDER [OUTPUT]

XSTEST_FOLDER is a checkout of XSTest's repository at the commit that SOURCE.txt
names. Texts are kept for the 250 safe prompts alone: what the 200 contrast
prompts ask for, and what was answered, has no place in a package.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Iterator
from pathlib import Path

SYSTEMS = ("llama2orig", "llama2new", "mistralinstruct", "mistralguard", "gpt4")
COLUMNS = (
    "id",
    "system",
    "prompt_kind",
    "type",
    "prompt",
    "completion",
    "withheld",
    "annotation_1",
    "annotation_2",
    "final_label",
    "gpt4_label",
    "strmatch_label",
)
LABELS = ("1_full_compliance", "2_full_refusal", "3_partial_refusal")
WITHHELD = "harmful contrast prompt; text not shipped"
DECLINED = "no label: the judge declined"
COMMENTED = "no label: the judge commented on the reply instead"
OUTPUT = Path(__file__).parents[1] / "src/theodolite/resources/demo/xstest-replay/answers.csv.gz"

Row = dict[str, str]


def read_rows(path: Path) -> list[Row]:
    """Return the rows of one CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def judge_label(row: Row, *, safe: bool) -> str:
    """Return the judge's label, or a neutral text where it gave none on a prompt whose texts stay out."""
    said = row["gpt4_label"]
    if said in LABELS or safe:
        return said
    return DECLINED if said.startswith("I'm ") else COMMENTED


def system_rows(folder: Path, system: str) -> Iterator[Row]:
    """Yield the demo's rows of one system, in the order of its files."""
    automatic = folder / "evaluation" / "automated_evaluation_labels"
    answers = read_rows(folder / "model_completions" / f"xstest_v2_completions_{system}.csv")
    judged = read_rows(automatic / f"xstest_v2_completions_{system}_gpteval.csv")
    matched = read_rows(automatic / f"xstest_v2_completions_{system}_streval.csv")
    for answer, judgement, match in zip(answers, judged, matched, strict=True):
        if not answer["id"] == judgement["id"] == match["id"]:
            sys.exit(f"rows of `{system}` do not belong together: {answer['id']}, {judgement['id']}, {match['id']}")
        safe = not answer["type"].startswith("contrast")
        yield answer | {
            "system": system,
            "prompt_kind": "safe" if safe else "unsafe",
            "prompt": answer["prompt"] if safe else "",
            "completion": answer["completion"] if safe else "",
            "withheld": "" if safe else WITHHELD,
            "gpt4_label": judge_label(judgement, safe=safe),
            "strmatch_label": match["strmatch_label"],
        }


def demo_table(folder: Path) -> str:
    """Return the whole table as CSV text."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for system in SYSTEMS:
        writer.writerows(system_rows(folder, system))
    return text.getvalue()


def main(arguments: list[str]) -> None:
    """Write the table, compressed the same way every time."""
    if len(arguments) not in {1, 2}:
        sys.exit(__doc__)
    output = Path(arguments[1]) if len(arguments) == 2 else OUTPUT
    table = demo_table(Path(arguments[0]))
    with output.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(table.encode("utf-8"))
    print(f"{output}: {table.count(WITHHELD)} rows without texts, {output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
