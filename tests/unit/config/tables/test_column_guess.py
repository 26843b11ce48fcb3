from __future__ import annotations

from theodolite.config.tables import guess_columns, guess_lines, read_table


def table(tmp_path, text):
    path = tmp_path / "answers.csv"
    path.write_text(text)
    return read_table(path, "answers.csv")


def test_the_columns_of_the_demo_are_detected(shipped_folder):
    guess = guess_columns(read_table(shipped_folder("demo/xstest-replay") / "answers.csv.gz", "answers.csv.gz"))

    assert guess.columns["prompt"] == "prompt"
    assert guess.columns["response"] == "completion"
    assert (guess.persons, guess.models, guess.rules) == (
        ("annotation_1", "annotation_2"),
        ("gpt4_label",),
        ("strmatch_label",),
    )
    assert (guess.reference, guess.defect) == ("final_label", "2_full_refusal")


def test_values_without_a_matching_label_are_counted_and_shown(shipped_folder):
    read = read_table(shipped_folder("examples/b") / "answers.csv", "answers.csv")

    lines = guess_lines(read, guess_columns(read))

    assert lines[0] == "answers.csv: 8 rows, UTF-8, comma. Detected columns:"
    assert '             (1 value of gpt4_label fits no label, e.g. "I\'m sorry, but")' in lines


def test_a_column_of_texts_is_not_detected_as_labels(tmp_path):
    rows = "".join(f"q{n},a{n},{'good' if n % 2 else 'bad'},thoughts {n}\n" for n in range(8))

    guess = guess_columns(table(tmp_path, "Question,Answer,human_label,human_comment\n" + rows))

    assert (guess.persons, guess.labels, guess.defect) == (("human_label",), ("bad", "good"), "bad")
    assert guess.columns == {"prompt": "Question", "response": "Answer"}
