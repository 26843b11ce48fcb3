from __future__ import annotations

from theodolite.config.loading import check_study, load_study

STUDY = """study: a
models: {m: {script: [Hello]}}
applications: {app: {kind: model, model: m}}
scenarios: {s: {goal: "Find {{ wish }}", starter: "Hi"}}
personas: {p: {template: TEMPLATE, rows: ROWS, model: m}}
judges: {j: {ask: Polite?, defect: "== no", model: m}}
"""


def study(template="customer", rows="[{name: Ana, wish: a coat}]"):
    return STUDY.replace("TEMPLATE", template).replace("ROWS", rows)


def test_a_template_may_be_part_of_the_study(folder):
    group = load_study(folder(study_yaml=study('"You are {{ name }}: {{ goal }}"'))).study.personas[0]

    assert (group.template.text, group.template.shipped) == ("You are {{ name }}: {{ goal }}", False)


def test_a_template_of_the_folder_comes_before_a_shipped_one(folder):
    own = "---\nedition: 2\n---\nI am {{ name }}.\n"

    loaded = load_study(folder(study_yaml=study(), personas__customer_md=own))

    template = loaded.study.personas[0].template
    assert (template.text, template.edition, template.shipped) == ("I am {{ name }}.", "2", False)
    assert [item.where for item in loaded.found] == ["personas/customer.md"]


def test_rows_are_files_next_to_the_study_or_parameters(folder):
    path = folder(study_yaml=study(rows="people.csv"), parameters__people_csv="name,wish\nAna,a coat\n")

    (row,) = load_study(path).study.personas[0].rows

    assert (row.values, row.line) == ({"name": "Ana", "wish": "a coat"}, 2)


def test_rows_that_differ_only_in_an_unused_column_are_one_persona(folder):
    rows = "name,wish,age\nAna,a coat,30\nAna,a coat,40\n"

    (fault,) = check_study(folder(study_yaml=study(rows="people.csv"), people_csv=rows))

    assert (fault.place, fault.message[:12]) == ("people.csv:3", "equals row 2")


def test_a_template_without_rows_is_one_persona(folder):
    text = study('"You are curious. {{ goal }}"').replace(", rows: [{name: Ana, wish: a coat}]", "")

    group = load_study(folder(study_yaml=text.replace("{{ wish }}", "out"))).study.personas[0]

    assert [row.values for row in group.rows] == [{}]


def test_a_column_used_by_one_group_counts_as_used(folder):
    rows = "[{name: Ana, wish: a, age: 30}, {name: Bo, wish: b, age: 40}]"

    assert check_study(folder(study_yaml=study(rows=rows) + "groups: [age]\n")) == ()


def test_goals_are_checked_against_the_personas_of_their_scenarios(folder):
    text = (
        study()
        .replace("starter:", "personas: [p], starter:")
        .replace("judges:", "  q: {template: '{{ name }}', rows: [{name: Ana}], model: m}\njudges:")
    )

    text = text.replace("personas: {p: ", "personas:\n  p: ").replace("model: m}}\n  q", "model: m}\n  q")

    assert check_study(folder(study_yaml=text)) == ()


def with_manner(manner):
    """Return a study whose persona group says how its people write."""
    rows = "[{name: Ana, wish: a coat, tongue: Polish}]"
    return study(rows=rows).replace("}], model: m", f"}}], model: m, {manner}")


def test_people_have_a_style_a_language_and_a_memory(folder):
    text = with_manner('style: [pls help], language: "{{ tongue }}", history: 2')

    loaded = load_study(folder(study_yaml=text))

    group = loaded.study.personas[0]
    assert (group.style, group.language, group.history) == (("pls help",), "{{ tongue }}", 2)
    assert loaded.notes == ()


def test_a_language_that_no_value_fills_is_an_error(folder):
    faults = check_study(folder(study_yaml=with_manner('language: "{{ tonge }}"')))

    assert [fault.message for fault in faults][:1] == [
        "{{ tonge }} is filled by nothing; the rows have name, wish, tongue"
    ]


def test_a_language_that_is_not_a_template_is_an_error(folder):
    faults = check_study(folder(study_yaml=with_manner('language: "{{ tongue"')))

    assert faults[0].message.startswith("`language` of `p`:")


def test_people_without_memory_are_an_error(folder):
    faults = check_study(folder(study_yaml=with_manner("history: 0")))

    assert "history" in faults[0].message


def test_the_column_with_the_material_of_a_task_is_used(folder):
    rows = "[{name: Ana, wish: a, text: One}, {name: Ana, wish: a, text: Two}]"
    text = study(rows=rows).replace("model: m}}", 'model: m, system: "{{ context }}"}}', 1)

    assert check_study(folder(study_yaml=text.replace("{s: {goal", "{s: {task: rewriting, goal"))) == ()
