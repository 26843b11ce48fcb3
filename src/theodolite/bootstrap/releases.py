"""Public releases: bundles of dialogues, labels and results for checking and re-scoring."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from math import isclose
from pathlib import Path
from typing import Any, Final

from theodolite.assessment.redaction import redacted
from theodolite.bootstrap.files import tree_file_name, tree_file_pieces, write_whole
from theodolite.bootstrap.plugins import plugin_measures, tree_methods
from theodolite.bootstrap.study_context import StudyContext, dialogue_summaries
from theodolite.config.load_context import role_break_rules
from theodolite.domain.annotating.label_sample import LabelSample
from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError, NotFound, StorageUnavailable, did_you_mean
from theodolite.domain.evidence import Evidence
from theodolite.domain.identity import Json, canonical_json
from theodolite.domain.plan import PlannedSession
from theodolite.domain.record_reading import record_from
from theodolite.domain.release import DialogueAssignment, IdentifierFinding, ReleasedRecords, ReviewDecision
from theodolite.domain.run import Failure, Run
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.domain.study import Study
from theodolite.reporting.exporting.tables import ExportTable, csv_text
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.results.document import results_document
from theodolite.testing.people import counted, label_of
from theodolite.usecases.releasing import (
    MIN_GROUP,
    anonymised,
    curate,
    findings_in,
    redacted_records,
    released_evidence,
)

BUNDLE = "release-bundle"
REVIEW = "release-review.csv"
KEY = "release-key.pem"
FORMAT: Final = "theodolite-release/1"
SIGNATURE: Final = "signature.dsse.json"
SUMS: Final = "SHA256SUMS"
PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "https://theodolite.example/release/v1"

_STUDY, _RUN, _RESULTS, _ABOUT = "study.json", "run.json", "results.json", "release.json"
_TOLERANCE: Final = 1e-9
"""Relative difference up to which two decimals count as equal: processors round the last digits differently."""

_LISTS: Final[tuple[tuple[str, str, type], ...]] = (
    ("sessions", "sessions.jsonl", PlannedSession),
    ("dialogues", "dialogues.jsonl", Dialogue),
    ("annotations", "labels.jsonl", Annotation),
    ("adjudications", "final-labels.jsonl", Adjudication),
    ("failures", "failures.jsonl", Failure),
    ("responses", "responses.jsonl", QuestionnaireResponse),
    ("assignments", "assignments.jsonl", DialogueAssignment),
    ("samples", "label-samples.jsonl", LabelSample),
)
"""Field of the records, file and type of each line."""

NOT_RELEASED: Final = (
    "order_metrics",
    "order_effects",
    "event",
    "tasks",
    "codings",
    "hosts",
    "network",
    "spending",
    "criteria",
    "generated",
)
"""Entries of a results file that a release does not contain: they need times, orders or texts that are left out."""

_COLUMNS: Final = ("finding", "kind", "dialogue", "words", "context", "n", "decision", "reason", "reviewer")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """Choices of the releasing person.

    Attributes:
        out: Folder of the bundle; must not exist.
        review: File of decisions about identifiers; written and read.
        key: File of the private key; created if missing.
        redact_all: Whether undecided identifiers are redacted.
        without: Labels of dialogues to leave out.
        min_group: People who must share a combination of attributes; count.
    """

    out: Path
    review: Path
    key: Path
    redact_all: bool = False
    without: tuple[str, ...] = ()
    min_group: int = MIN_GROUP


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenRelease:
    """The outcome of `theodolite release`.

    Attributes:
        findings: Identifiers and decisions.
        review: File of decisions; empty if nothing was found.
        folder: The bundle; empty while findings are undecided.
        key_id: Identity of the signing key.
        new_key: Whether the key was made now.
        dialogues: Released dialogues; count.
        left_out: Reason to the number of dialogues left out; counts.
    """

    findings: tuple[IdentifierFinding, ...]
    review: str = ""
    folder: str = ""
    key_id: str = ""
    new_key: bool = False
    dialogues: int = 0
    left_out: Mapping[str, int]

    @property
    def undecided(self) -> int:
        """Findings without a valid decision; count."""
        return sum(not finding.is_decided for finding in self.findings)


def write_release(
    context: StudyContext, options: ReleaseOptions, *, draw: Callable[[], str] = lambda: secrets.token_hex(32)
) -> WrittenRelease:
    """Write the public release of the latest run, or only the review file while identifiers are undecided.

    Args:
        context: The open study.
        options: Choices of the releasing person.
        draw: Returns 64 random hexadecimal digits for new ids.

    Raises:
        InputError: If the folder exists, the review file has errors, or a dialogue does not exist.
        StorageUnavailable: If a file cannot be written.
    """
    if options.out.exists() and (not options.out.is_dir() or any(options.out.iterdir())):
        message = f"`{options.out}` exists and is not empty; name a new folder with --out"
        raise InputError(message)
    evidence = context.evidence()
    records = _curated(context, evidence, options)
    findings = _with_decisions(records, options)
    if findings:
        write_whole(options.review, review_text(findings))
        options.review.chmod(0o600)
    review = str(options.review) if findings else ""
    if any(not finding.is_decided for finding in findings):
        return WrittenRelease(findings=findings, review=review, left_out=records.left_out)
    released = anonymised(redacted_records(records, findings), draw)
    signer, is_new = _signer(options.key)
    files = dict(_files(context, released, findings))
    _require_no_original_id(files, evidence, released)
    for name, content in files.items():
        write_whole(options.out / name, content)
    _sign(options.out, files, signer)
    return WrittenRelease(
        findings=findings,
        review=review,
        folder=str(options.out),
        key_id=signer.public_key.keyid,
        new_key=is_new,
        dialogues=len(released.dialogues),
        left_out=released.left_out,
    )


def _curated(context: StudyContext, evidence: Evidence, options: ReleaseOptions) -> ReleasedRecords:
    for label in options.without:
        if evidence.sessions.find(label) is None:
            near = did_you_mean(label, [evidence.sessions.label(at) for at in range(len(evidence.sessions))])
            message = f"--without names `{label}`, which is not a dialogue of the run{near}"
            raise InputError(message)
    return curated_records(
        context, evidence, left_out={*options.without, *without_consent(context)}, min_group=options.min_group
    )


def curated_records(
    context: StudyContext, evidence: Evidence, *, left_out: Collection[str] = (), min_group: int = MIN_GROUP
) -> ReleasedRecords:
    """Return the records of a run with the redactions of reviewers, without restricted dialogues."""
    cases = context.store.cases(context.loaded.study.name)
    hidden = {case.dialogue: case.redactions for case in cases if case.redactions}
    return curate(
        evidence,
        without_consent=left_out,
        restricted={case.dialogue for case in cases if case.is_restricted},
        redact=lambda dialogue: redacted(dialogue, hidden.get(dialogue.key, ()), ""),
        held_out={name for material in evidence.study.materials if material.is_held_out for name in material.scenarios},
        min_group=min_group,
    )


def decided_findings(records: ReleasedRecords, review: Path) -> tuple[IdentifierFinding, ...]:
    """Return the identifiers in the texts of some records, with the decisions of a review file if there is one.

    Raises:
        InputError: If the review file has errors.
    """
    decided = read_review(review) if review.exists() else {}
    return tuple(
        replace(finding, decision=known.decision, reason=known.reason, reviewer=known.reviewer)
        for finding in findings_in(records)
        for known in [decided.get(finding.key, finding)]
    )


def without_consent(context: StudyContext) -> Iterator[str]:
    """Yield the labels of dialogues whose participants have not agreed to public releases, or withdrew consent."""
    study = context.loaded.study
    summaries = dialogue_summaries(context.store, study.name)
    if not summaries:
        return
    consents = context.store.events.participants.release_consents(study.name)
    for index, one in enumerate(counted(study, summaries)):
        if one.session.participant not in consents:
            yield label_of(index)


# --- Review of identifiers


def _with_decisions(records: ReleasedRecords, options: ReleaseOptions) -> tuple[IdentifierFinding, ...]:
    return tuple(
        replace(finding, decision=ReviewDecision.REDACT)
        if options.redact_all and finding.decision is ReviewDecision.OPEN
        else finding
        for finding in decided_findings(records, options.review)
    )


def review_text(findings: Iterable[IdentifierFinding]) -> str:
    """Return a review file: each identifier with its decision."""
    rows = (
        (
            finding.key,
            finding.kind,
            finding.dialogue,
            finding.words,
            finding.context,
            finding.n,
            finding.decision.value,
            finding.reason,
            finding.reviewer,
        )
        for finding in findings
    )
    return csv_text(ExportTable(name="review", columns=_COLUMNS, rows=rows))


def read_review(path: Path) -> dict[str, IdentifierFinding]:
    """Return the identifiers of a review file with their decisions, by finding.

    Args:
        path: The file; the columns with texts and counts may be empty.

    Raises:
        InputError: If the file cannot be read, or a decision is unknown or lacks its reason or reviewer.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        message = f"`{path}` cannot be read as CSV: {error}. Move it away; the command writes a new one"
        raise InputError(message) from error
    known = [decision.value for decision in ReviewDecision if decision.value]
    decided: dict[str, IdentifierFinding] = {}
    for number, row in enumerate(rows, 2):
        written = (row.get("decision") or "").strip().lower()
        key, reason, reviewer = ((row.get(name) or "").strip() for name in ("finding", "reason", "reviewer"))
        if not key or written not in {"", *known}:
            near = did_you_mean(written, known) if key else ""
            message = f"{path.name}:{number}  `decision` must be redact or keep; got `{written}`{near}"
            raise InputError(message)
        if written == ReviewDecision.KEEP.value and not (reason and reviewer):
            message = f"{path.name}:{number}  `keep` needs a `reason` and a `reviewer`"
            raise InputError(message)
        decided[key] = IdentifierFinding(
            key=key,
            kind=row.get("kind") or "",
            dialogue=row.get("dialogue") or "",
            words=row.get("words") or "",
            context=row.get("context") or "",
            n=int(number_text) if (number_text := (row.get("n") or "").strip()).isdecimal() else 0,
            decision=ReviewDecision(written),
            reason=reason,
            reviewer=reviewer,
        )
    return decided


# --- The bundle


def _files(
    context: StudyContext, released: ReleasedRecords, findings: Collection[IdentifierFinding]
) -> Iterator[tuple[str, str]]:
    """Yield name and content of each file of a bundle, without manifest and signature."""
    records = dict(_record_files(released))
    yield from records.items()
    loaded = records_of(records)  # measured on the written files, as `verify` does
    evidence = released_evidence(loaded)
    results, trees = _scored(evidence)
    yield _RESULTS, json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    yield from trees.items()
    yield _ABOUT, json.dumps(_about(context, released, findings), indent=1, ensure_ascii=False) + "\n"
    yield "README.md", _readme(released, findings)


def _record_files(records: ReleasedRecords) -> Iterator[tuple[str, str]]:
    yield _STUDY, canonical_json(records.study) + "\n"
    yield _RUN, canonical_json(records.run) + "\n"
    for name, file, _ in _LISTS:
        yield file, "".join(canonical_json(one) + "\n" for one in getattr(records, name))
    attributes = {name: dict(group_of) for name, group_of in records.annotator_attributes.items()}
    yield "annotator-attributes.json", json.dumps(attributes, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    for guideline in records.study.guidelines:
        yield f"guidelines/{_file_name(guideline.name)}.json", canonical_json(guideline) + "\n"
    for schema in records.study.schemas:
        yield f"schemas/{_file_name(schema.name)}.json", canonical_json(schema) + "\n"


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in name)


def records_of(files: Mapping[str, str]) -> ReleasedRecords:
    """Return the records in the files of a bundle.

    Raises:
        InputError: If a file is missing or has other content.
    """

    def read(name: str, kind: type[Any]) -> Any:
        if name not in files:
            message = f"`{name}` is missing; a release bundle contains it"
            raise InputError(message)
        try:
            return record_from(kind, files[name])
        except (KeyError, TypeError, ValueError) as error:
            message = f"`{name}` is not a record of a release that this version reads: {error}"
            raise InputError(message) from error

    def read_lines(name: str, kind: type[Any]) -> tuple[Any, ...]:
        result = []
        for number, line in enumerate(files.get(name, "").splitlines(), 1):
            try:
                result.append(record_from(kind, line))
            except (KeyError, TypeError, ValueError) as error:
                message = f"{name}:{number}  not a `{kind.__name__}` that this version reads: {error}"
                raise InputError(message) from error
        return tuple(result)

    lists: dict[str, Any] = {name: read_lines(file, kind) for name, file, kind in _LISTS}
    attributes = json.loads(files.get("annotator-attributes.json", "{}"))
    return ReleasedRecords(study=read(_STUDY, Study), run=read(_RUN, Run), annotator_attributes=attributes, **lists)


def _scored(evidence: Evidence) -> tuple[dict[str, Json], dict[str, str]]:
    """Return the results of a release and the files of its trees."""
    from theodolite.measurement import measure_study  # numpy and scipy are slow to import

    findings = measure_study(
        evidence, role_break_rules=role_break_rules(), summaries=tree_methods(), measures=plugin_measures()
    )
    facts = RunFacts(
        command="theodolite verify", package_version=version("theodolite"), generated=datetime(1970, 1, 1, tzinfo=UTC)
    )
    document = results_document(evidence, findings, facts)
    results = {name: part for name, part in document.items() if name not in NOT_RELEASED}
    trees = {
        f"trees/{tree_file_name(design)}": "".join(tree_file_pieces(evidence, findings, design))
        for design in evidence.study.trees
    }
    return json.loads(json.dumps(results, allow_nan=False)), trees


def _about(
    context: StudyContext, released: ReleasedRecords, findings: Collection[IdentifierFinding]
) -> dict[str, Json]:
    study = context.loaded.study
    redactions = Counter(finding.kind for finding in findings if finding.decision is ReviewDecision.REDACT)
    kept = Counter(finding.kind for finding in findings if finding.decision is ReviewDecision.KEEP)
    return {
        "format": FORMAT,
        "package": {"name": "theodolite", "version": version("theodolite")},
        "released": context.clock.now().date().isoformat(),
        "dialogues": len(released.dialogues),
        "left_out": dict(released.left_out),
        "identifiers": {"redacted": dict(redactions), "kept": dict(kept)},
        "application_versions": {
            application.name: study.application_version(application.name) for application in study.applications
        },
        "not_released": list(NOT_RELEASED),
    }


def _readme(released: ReleasedRecords, findings: Collection[IdentifierFinding]) -> str:
    study = released.study
    redactions = sum(finding.decision is ReviewDecision.REDACT for finding in findings)
    left_out = ", ".join(f"{n} ({reason})" for reason, n in released.left_out.items()) or "none"
    lines = [f"- `{file}`: {len(getattr(released, name)):,} records" for name, file, _ in _LISTS]
    return "\n".join(
        [
            f"# {study.title or study.name}",
            "",
            study.about,
            "",
            f"{len(released.dialogues):,} dialogues; left out: {left_out}.",
            f"{redactions:,} of {len(findings):,} detected identifiers are replaced by their kind.",
            "Detection is not complete: a text may still identify a person. Report such a text to the publisher.",
            "",
            "## Files",
            "",
            *lines,
            f"- `{_STUDY}`: guidelines, annotators, risks and trees, without addresses and keys",
            f"- `{_RESULTS}`, `trees/`: results measured from these records",
            f"- `{SUMS}`, `{SIGNATURE}`: SHA-256 of each file, and the signature (DSSE with an in-toto statement)",
            "",
            "## Check and re-score",
            "",
            "    pip install theodolite",
            "    theodolite verify . --key PUBLIC-KEY.pem",
            "",
            "The public key comes from the publisher by another way than this bundle.",
            "",
            "## Anonymisation",
            "",
            "Ids of dialogues, people and sessions are drawn at random for this release; no table of links exists.",
            "Records are in the order of the new ids. Times of people are left out; dates are rounded to the month.",
            "Attributes that fewer people share than the publisher's minimum are withheld.",
            "Answers in testers' own words, notes, codings and guesses are not part of the release.",
            "Results that need times or orders are not part of it either; see `not_released` in `release.json`.",
            "",
        ]
    )


def _require_no_original_id(files: Mapping[str, str], evidence: Evidence, released: ReleasedRecords) -> None:
    """Refuse to write a bundle that contains an original id of a record.

    Raises:
        InputError: If it does; this is an error of the program.
    """
    originals = {dialogue.key for dialogue in evidence.archive.dialogues()}
    originals |= {response.session for response in evidence.responses} | {
        response.participant for response in evidence.responses
    }
    originals |= {sitting.participant for sitting in evidence.sittings} | {evidence.run.key}
    own = {one.key for one in released.dialogues}
    for name, content in files.items():
        for original in originals - own - {""}:
            if original in content:
                message = f"`{name}` would contain an original id; nothing was written. Report this error"
                raise InputError(message)


# --- Checksums and signature


def _sign(folder: Path, files: Mapping[str, str], signer: Any) -> None:
    from securesystemslib.dsse import Envelope

    sums = {name: hashlib.sha256(content.encode()).hexdigest() for name, content in sorted(files.items())}
    write_whole(folder / SUMS, "".join(f"{value}  {name}\n" for name, value in sums.items()))
    statement = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": value}} for name, value in sums.items()],
        "predicateType": PREDICATE,
        "predicate": {"format": FORMAT},
    }
    envelope = Envelope(canonical_json(statement).encode(), PAYLOAD_TYPE, {})
    envelope.sign(signer)
    write_whole(folder / SIGNATURE, json.dumps(envelope.to_dict(), indent=1) + "\n")


def _signer(path: Path) -> tuple[Any, bool]:
    """Return the signer of a private key, and whether the key was created; its public half is stored next to it."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
        load_pem_private_key,
    )
    from securesystemslib.signer import CryptoSigner, SSlibKey  # type: ignore[attr-defined]  # public, unmarked

    is_new = not path.exists()
    if is_new:
        made = Ed25519PrivateKey.generate()
        _write_private(path, made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    try:
        private = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        message = f"`{path}` is not a private Ed25519 key in PEM form without a password"
        raise InputError(message) from error
    if not isinstance(private, Ed25519PrivateKey):
        message = f"`{path}` holds a key of another kind; expected Ed25519 in PEM form"
        raise InputError(message)
    public = private.public_key()
    write_whole(public_key_file(path), public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return CryptoSigner(private, SSlibKey.from_crypto(public)), is_new


def public_key_file(path: Path) -> Path:
    """Return the path of a private key's public half."""
    return path.with_name(f"{path.stem}.pub.pem")


def _write_private(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror}. Name another file with --key"
        raise StorageUnavailable(message) from error


# --- Verification


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """Findings of `theodolite verify`.

    Attributes:
        problems: Differences, each as one sentence; none if the bundle is intact.
        signer: Identity of the signing key; empty if the signature could not be checked.
        trusted: Whether the caller named the public key.
        files: Files that were checked; count.
        numbers: Values of results that were compared; count.
    """

    problems: tuple[str, ...]
    signer: str = ""
    trusted: bool = False
    files: int = 0
    numbers: int = 0


def verify_release(folder: Path, key: Path | None) -> Verification:
    """Check a bundle's signature and files, and compare its results with a measurement of its records.

    Raises:
        InputError: If the folder is not a release bundle, or the key cannot be read.
    """
    if not (folder / SIGNATURE).is_file():
        message = f"`{folder}` is not a release bundle: it has no `{SIGNATURE}`"
        raise NotFound(message)
    envelope = _envelope(folder / SIGNATURE)
    signer, problems = _check_signature(envelope, key)
    sums = _subjects(envelope)
    contents = _contents(folder)
    problems += _file_problems(sums, contents)
    texts = {name: content.decode("utf-8", "replace") for name, content in contents.items()}
    numbers = 0
    try:
        numbers, different = _rescore(texts)
        problems += different
    except InputError as error:
        problems.append(f"The bundle cannot be re-scored: {error}")
    return Verification(
        problems=tuple(problems), signer=signer, trusted=key is not None, files=len(sums), numbers=numbers
    )


def _envelope(path: Path) -> Any:
    from securesystemslib.dsse import Envelope

    try:
        return Envelope.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except Exception as error:  # the library raises errors of several kinds about a malformed envelope
        message = f"`{path}` is not a DSSE envelope: {error}"
        raise InputError(message) from error


def _check_signature(envelope: Any, key: Path | None) -> tuple[str, list[str]]:
    """Return the identity of the signing key, and the errors of the signature."""
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
    from securesystemslib.exceptions import VerificationError
    from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]  # public, unmarked

    signer = next(iter(envelope.signatures), "")
    if key is None:
        return signer, []
    try:
        public = SSlibKey.from_crypto(load_pem_public_key(key.read_bytes()))
    except (OSError, ValueError) as error:
        message = f"`{key}` is not a public key in PEM form"
        raise InputError(message) from error
    try:
        envelope.verify([public], 1)
    except VerificationError:
        return "", [f"The signature is not valid for the key `{key}`."]
    return signer, []


def _subjects(envelope: Any) -> dict[str, str]:
    try:
        statement = json.loads(envelope.payload)
        if envelope.payload_type != PAYLOAD_TYPE or statement["_type"] != STATEMENT:
            message = f"the signature is not about an in-toto statement: {envelope.payload_type}"
            raise InputError(message)
        return {str(one["name"]): str(one["digest"]["sha256"]) for one in statement["subject"]}
    except (ValueError, KeyError, TypeError) as error:
        message = "the signed statement has no list of files"
        raise InputError(message) from error


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a bundle except signature and checksums, which cover the others."""
    result = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in {SIGNATURE, SUMS}:
            result[name] = path.read_bytes()
    return result


def _file_problems(sums: Mapping[str, str], contents: Mapping[str, bytes]) -> list[str]:
    problems = [f"Missing file: {name}" for name in sums if name not in contents]
    problems += [f"Added file: {name}" for name in contents if name not in sums]
    for name, expected in sums.items():
        if name in contents and hashlib.sha256(contents[name]).hexdigest() != expected:
            problems.append(f"Changed file: {name}")
    return problems


def _rescore(texts: Mapping[str, str]) -> tuple[int, list[str]]:
    """Return the number of values compared, and where the published results differ from the records."""
    records = records_of(texts)
    results, trees = _scored(released_evidence(records))
    with suppress(KeyError, ValueError):
        published = json.loads(texts[_RESULTS])
        ours = {name: part for name, part in results.items() if name != "package"}
        theirs = {name: part for name, part in published.items() if name != "package"}
        differences, n = _differences(theirs, ours)
        for name, text in trees.items():
            if name not in texts:
                differences.append(f"{name}: not published")
                continue
            more, m = _differences(json.loads(texts[name]), json.loads(text), name)
            differences, n = differences + more, n + m
        shown = [f"Results differ: {difference}" for difference in differences[:_MOST_SHOWN]]
        more_than = len(differences) - len(shown)
        return n, [*shown, *([f"Results differ in {more_than:,} further values."] if more_than else [])]
    return 0, [f"`{_RESULTS}` is missing or is not JSON."]


_MOST_SHOWN = 20


def _differences(published: Any, measured: Any, path: str = "results") -> tuple[list[str], int]:
    """Return the differences of two JSON documents, and the number of compared values; count."""
    if isinstance(published, dict) and isinstance(measured, dict):
        result, n = [], 0
        for name in dict.fromkeys([*published, *measured]):
            if name not in published or name not in measured:
                result.append(f"{path}.{name}: only in the {'published' if name in published else 'measured'} results")
                continue
            more, m = _differences(published[name], measured[name], f"{path}.{name}")
            result, n = result + more, n + m
        return result, n
    if isinstance(published, list) and isinstance(measured, list):
        result, n = [], 0
        if len(published) != len(measured):
            return [f"{path}: {len(published)} entries published, {len(measured)} measured"], 1
        for at, (theirs, ours) in enumerate(zip(published, measured, strict=True)):
            more, m = _differences(theirs, ours, f"{path}[{at}]")
            result, n = result + more, n + m
        return result, n
    return ([] if _is_same(published, measured) else [f"{path}: {published!r} published, {measured!r} measured"]), 1


def _is_same(published: object, measured: object) -> bool:
    if isinstance(published, float) and isinstance(measured, int | float) and not isinstance(measured, bool):
        return isclose(published, measured, rel_tol=_TOLERANCE, abs_tol=1e-12)
    return published == measured and isinstance(published, bool) == isinstance(measured, bool)
