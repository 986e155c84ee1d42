"""Run the commands of README and of docs/ again, and write down what they print today.

Each language has one workspace, and one folder with the small files that the pages speak of. The
page on the laws of e-Gov has a workspace of its own; it is left alone where those laws are missing.
"""

import functools
import os
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl

_REPOSITORY = Path(__file__).parents[1]
_TASKS = "ask", "read", "check", "batches", "files", "models", "serve", "confidential", "methods"
TOURS = {
    "en": ("README.md", *(f"docs/{task}.md" for task in _TASKS)),
    "ja": ("README.ja.md", *(f"docs/ja/{task}.md" for task in _TASKS)),
}
"""By language the pages, in order: they share a workspace, and a command runs once."""
REAL_LAWS = {"en": ("docs/install.md",), "ja": ("docs/ja/install.md",)}
"""By language the pages about laws of e-Gov."""
SETTINGS = {"en": "docs/settings.md", "ja": "docs/ja/settings.md"}
"""By language the page that holds the file of settings as it is."""
_LAWS = {
    "129AC0000000089": "民法",
    "322AC0000000049": "労働基準法",
    "403AC0000000090": "借地借家法",
    "412AC0000000061": "消費者契約法",
}
"""By id the laws in the archive of the page about e-Gov."""
_BEFORE_THE_ANSWER = ("$ localrag init", "$ localrag add laws.zip", "$ localrag index")
SHOWN_HOME = "/home/you/law"
_CONSOLE = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
_TOML = re.compile(r"(?<=```toml\n).*?(?=```)", re.DOTALL)
_TOKEN = re.compile(r"^[\w-]{40,}$", re.MULTILINE)
_FILES = {
    "memo.md": "渡し舟法第6条の届出は、20日以内にしなければならない。\n\n"
    "同法第8条第1項は「渡し守は、水位又は風速が政令で定める基準を超えるときは、"
    "渡し舟を運航してはならない。」と定める。\n\n"
    "罰則は、同法第40条にある。\n",
    "事件記録/聴取書.md": "# 聴取書\n\n事故の日の水位は、平常時より二メートル高かった。\n",
    "事件記録/経費.csv": "日付,費目,金額\n2026-04-03,桟橋の修繕,120000\n2026-04-10,係留杭,34000\n",
    "事件記録/連絡.eml": "From: a@example.org\nTo: b@example.org\nSubject: notice\n"
    "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"
    "運航の再開は五月七日とします。\n",
    "事件記録/訴状.doc": "",
    "questions.jsonl": '{"id": "1", "question": "渡し守の資格について正しいものはどれか。", '
    '"options": ["十八歳以上の者であれば足りる。", "国土交通省令で定める講習を修了した者は、'
    '修了の日から五年を経過していなければ資格を有する。"], "answer": "b"}\n',
}
_ROWS = (
    ("番号", "質問"),
    (1, "渡し守の資格は何か。"),
    (2, "渡し舟を運航してはならない水位の基準は何か。"),
    (3, "会社法における渡し守の資格は何か。"),
)


def main() -> None:
    """Replace the output below the commands in the blocks marked ``console``."""
    for language, names in TOURS.items():
        with tempfile.TemporaryDirectory() as folder:
            _lay_out(Path(folder))
            _print_again(names, Path(folder), language)
        settings = _REPOSITORY / "localrag" / "corpus" / f"localrag.{language}.toml"
        _replace(_REPOSITORY / SETTINGS[language], _TOML, lambda _: settings.read_text("utf-8"))  # noqa: B023
    _print_real_laws()


def _print_real_laws() -> None:
    laws = Path(os.environ.get("LOCALRAG_SHARED_DATA", _REPOSITORY / "../shared/data")) / "egov/xml"
    if not laws.is_dir():
        print(f"{laws} is missing: {', '.join(sum(REAL_LAWS.values(), ()))} stay as they are")
        return
    for language, names in REAL_LAWS.items():
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(Path(folder) / "laws.zip", "w") as archive:
                for law in _LAWS:
                    file = max(laws.glob(f"{law}_*.xml"))
                    archive.write(file, f"{file.stem}/{file.name}")
            # The page opens with the answer.
            _print_again(names, Path(folder), language, before=_BEFORE_THE_ANSWER)


def _lay_out(folder: Path) -> None:
    """Write the files that the pages speak of."""
    for name, text in _FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    book = openpyxl.Workbook()
    for row in _ROWS:
        book.worksheets[0].append(row)
    book.save(folder / "質問.xlsx")


def _print_again(
    names: tuple[str, ...], folder: Path, language: str, before: tuple[str, ...] = ()
) -> None:
    # Pages show the same commands: each is run once, in the order of the pages.
    run = functools.cache(functools.partial(output, folder, language))
    for command in before:
        run(command)
    for name in names:
        _replace(_REPOSITORY / name, _CONSOLE, lambda block: again(block, run))


def _replace(path: Path, blocks: re.Pattern[str], made: Callable[[str], str]) -> None:
    text = blocks.sub(lambda block: made(block[0]), path.read_text("utf-8"))
    path.write_text(text, encoding="utf-8")


def again(block: str, run: Callable[[str], str]) -> str:
    """A block with the output of today."""
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    parts = [
        f"{line}\n{run(line)}" if line.startswith(("$ localrag ", "$ cat ")) else line
        for line in commands
    ]
    return "\n\n".join(parts).replace("~/law\n\n", "~/law\n") + "\n"


def output(folder: Path, language: str, line: str) -> str:
    """What one command line prints in a folder, with the reader's paths instead of this one's."""
    home = folder / "law"
    command = shlex.split(line.removeprefix("$ "))
    finished = subprocess.run(
        command if command[0] == "cat" else [sys.executable, "-m", *command],
        env={
            **os.environ,
            "LOCALRAG_HOME": str(home),
            "LOCALRAG_LANGUAGE": language,
            "COLUMNS": "100",
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode not in (0, 3, 4):
        sys.exit(f"{line} failed:\n{finished.stderr}")
    shown = finished.stdout.replace(str(home), SHOWN_HOME).replace(str(folder), "/home/you")
    lines = _TOKEN.sub("uTq0…", shown).splitlines()
    return "\n".join(map(str.rstrip, lines)).strip("\n")


if __name__ == "__main__":
    main()
