"""Who handed in what: each layout a class is kept in, and what students make of it."""

import builtins
import os
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rope_kv.grading import folders
from rope_kv.grading.submissions import Submission, SubmissionsError, find, folder_names

CODE = "def rope_freqs(d, base=10000): ...\n"
METADATA = """\
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: '007'
    :email: ada@example.org
  :created_at: 2026-01-02 03:04:05.000000000 Z
  :score: 0.0
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    tests: []
submission_2:
  :submitters:
  - :name: Grace Hopper
    :sid: '2'
  - :name: Alan Turing
    :sid: '1'
"""


def write(folder, *names, text=CODE):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def names(found):
    return [one.name for one in found]


def files(found, below):
    """The file of each student, relative to a folder, or the problem."""
    return {one.name: one.file and one.file.relative_to(below).as_posix() for one in found}


def problem(found):
    """The problem of the one student who is found, whose file is None."""
    (one,) = found
    assert one.file is None
    assert one.problem == " ".join(one.problem.split())
    return one.problem


def test_a_file_is_named_by_its_stem(tmp_path):
    write(tmp_path, "ada.py")
    assert find([tmp_path / "ada.py"]) == [Submission("ada", tmp_path / "ada.py")]


def test_each_file_of_a_folder_is_one_students(tmp_path):
    write(tmp_path, "bob.py", "ada.py", "Cy.py", "README.md")
    assert files(find([tmp_path]), tmp_path) == {"ada": "ada.py", "bob": "bob.py", "Cy": "Cy.py"}
    assert names(find([tmp_path])) == ["ada", "bob", "Cy"]


def test_what_is_named_relative_stays_so(tmp_path, monkeypatch):
    write(tmp_path, "class/ada.py", "class/bob.py")
    monkeypatch.chdir(tmp_path)
    assert [str(one.file) for one in find(["class"])] == ["class/ada.py", "class/bob.py"]
    assert [str(one.file) for one in find(["class/*.py"])] == ["class/ada.py", "class/bob.py"]


def test_a_pattern_names_files_and_what_is_found_twice_is_there_once(tmp_path):
    write(tmp_path, "ada.py", "bob.py", "notes.txt")
    assert names(find([str(tmp_path / "*.py"), tmp_path, tmp_path / "ada.py"])) == ["ada", "bob"]


def test_each_folder_of_a_folder_is_one_students_and_a_file_may_lie_deep_in_it(tmp_path):
    write(tmp_path, "ada/solution.py", "bob/hand in/src/work.py", "bob/data.txt")
    assert files(find([tmp_path]), tmp_path) == {
        "ada": "ada/solution.py",
        "bob": "bob/hand in/src/work.py",
    }


def test_among_several_files_of_a_student_the_name_decides(tmp_path):
    write(tmp_path, "ada/helpers.py", "ada/solution.py", "ada/old/solution.py", "bob/work.py")
    ada, bob = find([tmp_path])
    assert ada.file is None
    assert ada.problem == (
        "3 .py files (helpers.py, old/solution.py, solution.py): "
        "say which with --file NAME, or leave one alone"
    )
    assert bob.file == tmp_path / "bob/work.py"
    chosen = find([tmp_path], "solution.py")
    assert files(chosen, tmp_path) == {"ada": "ada/solution.py", "bob": "bob/work.py"}
    assert find([tmp_path], "old/solution.py")[0].file == tmp_path / "ada/old/solution.py"


def test_several_files_none_of_which_has_the_name_are_a_problem(tmp_path):
    write(tmp_path, "ada/a.py", "ada/b.py")
    assert "none of them solution.py" in problem(find([tmp_path], "solution.py"))
    write(tmp_path, "ada/x/solution.py", "ada/y/solution.py")
    assert "2 files are called solution.py" in problem(find([tmp_path], "solution.py"))


def test_of_several_folders_one_that_has_the_named_file_itself_is_one_students(tmp_path):
    write(tmp_path, "ada/solution.py", "ada/helpers.py", "bob/solution.py")
    assert names(find([tmp_path / "ada"])) == ["helpers", "solution"]
    assert files(find([tmp_path / "ada", tmp_path / "bob"], "solution.py"), tmp_path) == {
        "ada": "ada/solution.py",
        "bob": "bob/solution.py",
    }
    write(tmp_path, "solution.py")  # the teacher's, beside the folders of the class
    assert names(find([tmp_path], "solution.py")) == ["ada", "bob", "solution"]


def test_what_programs_leave_behind_is_nobodys(tmp_path):
    write(
        tmp_path,
        "__MACOSX/ada/._solution.py", "ada/solution.py", "ada/._solution.py", "ada/.DS_Store",
        "ada/__pycache__/solution.py", "ada/.ipynb_checkpoints/solution-checkpoint.py",
        "ada/__MACOSX/x.py", "._ada.py", ".hidden.py", "__pycache__/x.py",
    )  # fmt: skip
    expected = {"ada": "ada/solution.py"}
    assert files(find([tmp_path]), tmp_path) == expected
    assert files(find([str(tmp_path / "*")]), tmp_path) == {"solution": "ada/solution.py"}


def test_a_folder_without_a_file_is_not_lost_and_says_what_is_there(tmp_path):
    (tmp_path / "ada").mkdir()
    assert problem(find([tmp_path])) == "no .py file in the folder: it is empty"
    write(tmp_path, *(f"ada/{name}" for name in ("a.txt", "b.ipynb", "c", "d", "e", "f")))
    assert problem(find([tmp_path])) == (
        "no .py file in the folder: found a.txt, b.ipynb, c, d and 2 more"
    )


@pytest.mark.parametrize("what", ["file", "folder", "nothing"])
def test_no_link_is_followed(tmp_path, what):
    write(tmp_path, "secret/solution.py", "class/bob/solution.py")
    target = {"file": "secret/solution.py", "folder": "secret", "nothing": "none"}[what]
    link = tmp_path / "class" / ("eve" if what == "folder" else "eve.py")
    link.symlink_to(tmp_path / target)
    bob, eve = find([tmp_path / "class"])
    assert bob.file is not None
    assert (eve.name, eve.file) == ("eve", None)
    assert "is a symbolic link, which is not followed" in eve.problem


def test_who_hands_in_a_link_is_not_judged_by_another_file(tmp_path):
    write(tmp_path, "class/ada/helpers.py", "secret.py")
    (tmp_path / "class/ada/solution.py").symlink_to(tmp_path / "secret.py")
    said = problem(find([tmp_path / "class"], "solution.py"))
    assert said.startswith("solution.py is a symbolic link, which is not followed")
    assert problem(find([tmp_path / "class"])).startswith("2 .py files")


def test_a_folder_behind_a_link_is_not_looked_into(tmp_path):
    write(tmp_path, "secret/solution.py")
    (tmp_path / "class/ada").mkdir(parents=True)
    (tmp_path / "class/ada/src").symlink_to(tmp_path / "secret")
    assert "found src, which is a symbolic link" in problem(find([tmp_path / "class"]))


@pytest.mark.parametrize("shell", [True, False])
def test_a_link_that_a_pattern_leads_through_is_not_followed(tmp_path, shell):
    write(tmp_path, "class/ada/solution.py", "secret/solution.py")
    (tmp_path / "class/eve").symlink_to(tmp_path / "secret")
    paths = [tmp_path / f"class/{name}/solution.py" for name in ("ada", "eve")]
    found = find(paths if shell else [str(tmp_path / "class/*/solution.py")])
    assert names(found) == ["solution (ada)", "solution (eve)"]
    assert [one.file for one in found] == [paths[0], None]
    assert "eve is a symbolic link" in found[1].problem


def test_a_link_above_what_is_named_is_the_teachers_own(tmp_path):
    write(tmp_path, "hw3/ada.py", "hw3/bob.py")
    (tmp_path / "current").symlink_to(tmp_path / "hw3")
    assert names(find([tmp_path / "current/ada.py", tmp_path / "current/bob.py"])) == [
        "ada",
        "bob",
    ]
    with pytest.raises(SubmissionsError, match=r"current is a symbolic link.* points to"):
        find([tmp_path / "current"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes to hand in")
def test_a_pipe_is_not_opened(tmp_path):
    (tmp_path / "ada").mkdir()
    os.mkfifo(tmp_path / "ada/solution.py")
    os.mkfifo(tmp_path / "bob.py")
    ada, bob = find([tmp_path])
    assert ada.problem == "solution.py is not a file: ask for the file itself"
    assert bob.problem == "bob.py is not a file"


def test_a_folder_of_too_many_files_is_a_problem_and_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "MOST_ENTRIES", 10)
    write(tmp_path, *(f"ada/more/{number}.txt" for number in range(11)), "ada/solution.py")
    write(tmp_path, "bob/solution.py")
    assert find([tmp_path])[0].problem.startswith("more than 10 files in the folder")
    found = find([tmp_path], "solution.py")
    assert files(found, tmp_path) == {"ada": "ada/solution.py", "bob": "bob/solution.py"}


def test_a_deep_tree_is_looked_into_so_far_and_no_farther(tmp_path):
    write(tmp_path, f"ada/{'x/' * folders.DEEPEST}solution.py")
    write(tmp_path, f"bob/{'x/' * (folders.DEEPEST + 1)}solution.py")
    ada, bob = find([tmp_path])
    assert ada.file is not None
    assert bob.problem.startswith("no .py file in the folder")


def test_a_folder_that_cannot_be_read_is_that_students_problem(tmp_path, monkeypatch):
    write(tmp_path, "ada/solution.py", "eve/solution.py")
    scandir = os.scandir

    def refusing(path):
        if "eve" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    ada, eve = find([tmp_path])
    assert ada.file is not None
    assert eve.problem == "cannot read the folder: Permission denied"


def test_who_has_the_same_name_is_told_apart(tmp_path):
    write(tmp_path, "a/ada.py", "b/ada.py", "b/bob.py")
    assert names(find([tmp_path / "a", tmp_path / "b"])) == ["ada (a)", "ada (b)", "bob"]
    write(tmp_path, "c/b/ada.py", "ada (b) (1).py")
    found = find([tmp_path / "ada (b) (1).py", *(tmp_path / one for one in ("a", "b", "c/b"))])
    assert files(found, tmp_path) == {
        "ada (a)": "a/ada.py",
        "ada (b) (1)": "ada (b) (1).py",
        "ada (b) (2)": "b/ada.py",
        "ada (b) (3)": "c/b/ada.py",
        "bob": "b/bob.py",
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("between", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_list_is_read_as_a_spreadsheet_writes_it(tmp_path, encoding, between, end):
    write(tmp_path, "files/a 1.py", "files/b/solution.py")
    lines = [("Name", "mail", "Path"), ("Zoë", "z@x.y", "files/a 1.py"), ("", "", "")]
    lines += [("Bob", "b@x.y", "files/b"), ("Cy", "c@x.y", "files/c.py"), ("Di", "d@x.y", "")]
    text = end.join(between.join(line) for line in lines)
    (tmp_path / "class.csv").write_bytes(text.encode(encoding))
    bob, cy, di, zoe = find([tmp_path / "class.csv"])
    assert (zoe.name, zoe.file) == ("Zoë", tmp_path / "files/a 1.py")
    assert (bob.name, bob.file) == ("Bob", tmp_path / "files/b/solution.py")
    assert (cy.file, cy.problem) == (None, f"there is no {tmp_path / 'files/c.py'}")
    assert (di.file, di.problem) == (None, "no path in line 6 of class.csv")


def test_a_list_leads_through_no_link_and_to_no_other_kind_of_file(tmp_path):
    write(tmp_path, "class/notes.txt", "secret/solution.py")
    (tmp_path / "class/eve").symlink_to(tmp_path / "secret")
    lines = ["name,path", "eve,eve/solution.py", "bob,notes.txt", f"cy,{'x' * 999}.py", "di,a\0"]
    write(tmp_path, "class/all.csv", text="\n".join(lines))
    bob, cy, di, eve = find([tmp_path / "class/all.csv"])
    assert bob.problem == "notes.txt does not end in .py"
    assert "eve is a symbolic link" in eve.problem
    assert cy.problem
    assert di.problem
    assert {bob.file, cy.file, di.file, eve.file} == {None}


@pytest.mark.parametrize("text", ["", "name\nada", "student,file\nada,a.py"])
def test_a_list_without_its_columns_is_refused_in_a_sentence(tmp_path, text):
    write(tmp_path, "all.csv", text=text)
    with pytest.raises(SubmissionsError, match=r"must name the columns name and path, found \w+"):
        find([tmp_path / "all.csv"])


def test_an_export_of_gradescope_has_the_names_of_the_students(tmp_path):
    export = tmp_path / "assignment_9_export"
    write(export, "submission_1/solution.py", "submission_2/sub/work.py", "submission_3/x.py")
    write(export, "submission_metadata.yml", text=METADATA)
    told = []
    expected = {
        "Ada Lovelace": "submission_1/solution.py",
        "Alan Turing, Grace Hopper": "submission_2/sub/work.py",
        "submission_3": "submission_3/x.py",
    }
    assert files(find([export], note=told.append), export) == expected
    assert files(find([tmp_path], note=told.append), export) == expected
    assert told == []


def test_namesakes_in_gradescope_are_told_apart_by_their_numbers(tmp_path):
    write(tmp_path, "submission_1/a.py", "submission_2/a.py")
    text = "".join(
        f"submission_{number}:\n  :submitters:\n  - :name: Ada\n    :sid: '{number:03}'\n"
        for number in (1, 2, 3)
    )
    write(tmp_path, "submission_metadata.yml", text=text)
    found = find([tmp_path])
    assert names(found) == ["Ada (001)", "Ada (002)", "Ada (003)"]
    assert found[2].problem == "there is no folder submission_3"


def test_without_pyyaml_the_folders_give_the_names_and_a_note_says_so(tmp_path, monkeypatch):
    write(tmp_path, "submission_1/a.py")
    write(tmp_path, "submission_metadata.yml", text=METADATA)
    there = builtins.__import__

    def without_yaml(name, *rest, **more):
        if name == "yaml":
            raise ImportError(name)
        return there(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_yaml)
    told = []
    assert names(find([tmp_path], note=told.append)) == ["submission_1"]
    assert "pip install 'rope_kv[grade]'" in told[0]


@pytest.mark.parametrize(
    "text",
    ["", "- a\n- b", "a: b", "x: [", "\x01", "a: &a [*a]", "submission_1: {':submitters': 3}"],
)
def test_metadata_that_say_nothing_are_no_obstacle(tmp_path, text):
    write(tmp_path, "submission_1/a.py")
    write(tmp_path, "submission_metadata.yml", text=text)
    assert names(find([tmp_path])) == ["submission_1"]


def test_metadata_run_nothing(tmp_path):
    write(tmp_path, "submission_1/a.py")
    evil = f"submission_1: !!python/object/apply:os.mkdir ['{tmp_path / 'made'}']\n"
    write(tmp_path, "submission_metadata.yml", text=evil)
    assert names(find([tmp_path])) == ["submission_1"]
    assert not (tmp_path / "made").exists()


def test_an_export_of_moodle_has_the_names_of_the_students(tmp_path):
    write(
        tmp_path,
        "Ada Lovelace_12_assignsubmission_file_/solution.py",
        "Ada Lovelace_12_assignsubmission_onlinetext_/onlinetext.html",
        "Bob_7_assignsubmission_onlinetext_/code.py",
        "Cy d'Or_8_assignsubmission_file_/sub/solution.py",
        "Participant_1_assignsubmission_file_/a.py",
        "Participant_2_assignsubmission_file_/b.py",
    )
    found = find([tmp_path])
    assert names(found) == ["Ada Lovelace", "Bob", "Cy d'Or", "Participant (1)", "Participant (2)"]
    assert [one.file is None for one in found] == [False, True, False, False, False]
    assert found[1].problem == "only a text that was typed into Moodle, no file"
    one = tmp_path / "Cy d'Or_8_assignsubmission_file_"
    assert find([one]) == [Submission("Cy d'Or", one / "sub/solution.py")]


def test_an_export_of_moodle_may_have_no_folders(tmp_path):
    before = "Ada Lovelace_12_assignsubmission_file_"
    write(tmp_path, f"{before}solution.py", f"{before}helpers.py", f"{before}report.pdf")
    write(
        tmp_path, "Bob_7_assignsubmission_file_my_work.py", "Bob_7_assignsubmission_onlinetext_x"
    )
    write(tmp_path, "Cy_9_assignsubmission_file_notes.txt")
    ada, bob, cy = find([tmp_path])
    assert ada.problem.startswith("2 .py files (helpers.py, solution.py)")
    assert find([tmp_path], "solution.py")[0].file == tmp_path / f"{before}solution.py"
    assert (bob.name, bob.file) == ("Bob", tmp_path / "Bob_7_assignsubmission_file_my_work.py")
    assert cy.problem == "no .py file: found notes.txt"
    (tmp_path / "Di_3_assignsubmission_file_").symlink_to(tmp_path)
    assert "is a symbolic link" in find([tmp_path])[3].problem


def test_names_are_kept_but_for_what_acts_on_a_terminal(tmp_path):
    given = "عمر \u202eyp.x \x1b[31m李"
    write(tmp_path, f"{given}/solution.py", f"{'x' * 250}.py")
    first, second = find([tmp_path])
    assert first.name == "x" * 199 + "…"
    assert second.name == "عمر \\x202eyp.x \\x1b[31m李"
    assert second.file.parent.name == given


def test_a_name_is_the_same_however_its_accents_are_written(tmp_path):
    write(tmp_path, "all.csv", text="name,path\nZoe\u0308,a.py")
    assert names(find([tmp_path / "all.csv"])) == ["Zo\u00eb"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("none", "there is no .*none"),
        ("*.txt", "nothing that could be a submission matches"),
        ("**/*.py", r"\*\* is not looked for"),
        ("notes.md", "is neither a .py file nor a folder nor a CSV"),
        ("empty", "no submission in .*empty: name .py files"),
    ],
)
def test_what_cannot_be_a_class_is_refused_in_a_sentence(tmp_path, source, said):
    write(tmp_path, "notes.md")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SubmissionsError, match=said):
        find([str(tmp_path / source)])


@pytest.mark.parametrize("name", ["../solution.py", "/solution.py", "solution.txt"])
def test_the_file_to_check_is_a_name(tmp_path, name):
    with pytest.raises(SubmissionsError, match=r"must be a name that ends in \.py"):
        find([tmp_path], name)


def test_a_class_folder_that_cannot_be_read_is_said_in_a_sentence(tmp_path, monkeypatch):
    def refusing(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", refusing)
    with pytest.raises(SubmissionsError, match=r"cannot read .*: Permission denied"):
        find([tmp_path])


def stems(*given):
    return folder_names([Submission(name, None) for name in given])


def test_a_students_reports_are_named_by_the_student():
    assert stems("ada", "Ada Lovelace", "李 雷", "Zoë_1", "../../etc/passwd", ".x") == {
        "ada": "ada",
        "Ada Lovelace": "Ada-Lovelace",
        "李 雷": "李-雷",
        "Zoë_1": "Zoë_1",
        "../../etc/passwd": "etc-passwd",
        ".x": "x",
    }


def test_who_would_have_the_same_reports_has_a_mark_and_nobody_else():
    found = stems("Ada", "ada", "a b", "a-b", "bob")
    assert found["bob"] == "bob"
    assert found["Ada"].startswith("Ada-")
    assert len(set(map(str.casefold, found.values()))) == 5
    assert stems("ada", "Ada")["Ada"] == found["Ada"]


@given(given=st.lists(st.text(max_size=120), unique=True, max_size=8))
@example(["ada", "Ada", f"ada-{'0' * 8}"])
@example(["!", "?", "…", "\u0301", "名" * 60, "名" * 61, "\u017f", "s", "ﬁ", "fi", "\udcff"])
def test_whatever_the_names_the_reports_are_apart_and_can_be_written(given):
    found = stems(*given)
    assert list(found) == given
    folded = {unicodedata.normalize("NFD", stem).casefold() for stem in found.values()}
    assert len(folded) == len(given)
    for stem in found.values():
        assert 0 < len(stem.encode()) <= 80
        assert stem[0] not in "-_."
        assert not set(stem) & set('./\\:*?"<>| \0')
        assert stem.isprintable()
