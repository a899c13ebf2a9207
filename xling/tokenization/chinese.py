"""Chinese (section 3.1): segmentation with Stanford's `pku` model (as in XLM) or jieba, and script by OpenCC."""

import logging
import subprocess
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

import jieba
import opencc

from xling.core.errors import InputError, XlingError
from xling.data.lines import filled_lines

Segmenter = Callable[[str], list[str]]
STANFORD_CLASS = "edu.stanford.nlp.ie.crf.CRFClassifier"
CONVERSIONS = {"simplified": "t2s", "traditional": "s2t"}
STAND_IN = "〓"  # replaces characters beyond U+FFFF for the segmenter, because Java splits them into two halves
PROBE = "同步"
FORGET_EVERY = 10_000  # lines after which what the segmenter said on stderr is dropped; it says something of each line


def make_converter(script: str) -> Callable[[str], str]:
    """Return the function that converts a text to a script: simplified or traditional."""
    converter = opencc.OpenCC(CONVERSIONS[script])
    return lambda text: str(converter.convert(text))


def make_jieba(dictionary: Path | None) -> Segmenter:
    """Return jieba with its own dictionary and hidden Markov model, or only with the given dictionary.

    The prefix dictionary is built in memory, which takes about a second. jieba's cache in the shared temporary folder
    is neither read nor written, so processes and users cannot interfere with each other.
    """
    jieba.setLogLevel(logging.WARNING)
    tokeniser = jieba.Tokenizer()
    if dictionary is not None:
        for number, line in filled_lines(dictionary, "`word frequency` was"):
            fields = line.strip().split(" ")
            if len(fields) < 2 or not fields[1].isdecimal():
                raise InputError(dictionary, "expected `word frequency`", line=number, fix="one space between them")
        tokeniser.dictionary = str(dictionary.resolve())
    tokeniser.FREQ, tokeniser.total = tokeniser.gen_pfdict(tokeniser.get_dict_file())
    tokeniser.initialized = True
    guess_new_words = dictionary is None
    return lambda text: [word for word in tokeniser.cut(text, HMM=guess_new_words) if not word.isspace()]


class Stanford:
    """The Stanford segmenter in a Java process; each line is answered before the next one is sent."""

    def __init__(self, home: Path, java: str = "java") -> None:
        self._errors = tempfile.TemporaryFile(buffering=0)
        self._asked = 0
        command = stanford_command(home, java)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the command is ours, the folder the user's
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
            )
        except FileNotFoundError:
            raise XlingError(f"{java} not found: the Stanford segmenter needs Java (or use segmenter: jieba)") from None
        self.close = weakref.finalize(self, _stop, self._process)

    def __call__(self, text: str) -> list[str]:
        """Return the words of one line of text."""
        sent = " ".join("".join(character if character <= "\uffff" else STAND_IN for character in text).split())
        if not sent:
            return []
        answer = self._ask(sent)
        if _bare(answer) != _bare(sent):
            if _bare(self._ask(PROBE)) != PROBE:
                raise XlingError(f"the Stanford segmenter is out of step: it answered {sent!r} with {answer!r}")
            return answer.split()
        originals = iter([character for character in text if character > "\uffff" or character == STAND_IN])
        return "".join(next(originals) if character == STAND_IN else character for character in answer).split()

    def _ask(self, line: str) -> str:
        stdin, stdout = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        self._asked += 1
        if self._asked % FORGET_EVERY == 0:
            self._errors.seek(0)  # for Java too, which shares the place in the file
            self._errors.truncate()
        try:
            stdin.write(line.encode("utf-8") + b"\n")
            stdin.flush()
            answer = stdout.readline()
        except BrokenPipeError:
            answer = b""
        if not answer:
            self._process.wait()
            self._errors.seek(0)
            said = self._errors.read().decode("utf-8", errors="replace").split("\n")
            last = next((line.strip() for line in reversed(said) if line.strip()), "it said nothing")
            raise XlingError(f"the Stanford segmenter stopped: {last}")
        return answer.decode("utf-8", errors="replace")


def stanford_command(home: Path, java: str) -> list[str]:
    """Return the command that segments standard input line by line with the `pku` model."""
    data = home / "data"
    for needed in (data / "pku.gz", data / "dict-chris6.ser.gz"):
        if not needed.is_file():
            raise InputError(needed, "not found", fix="stanford_home must be the unpacked stanford-segmenter folder")
    encoding = ["-inputEncoding", "UTF-8", "-outputEncoding", "UTF-8"]
    model = ["-loadClassifier", str(data / "pku.gz"), "-serDictionary", str(data / "dict-chris6.ser.gz")]
    options = ["-sighanCorporaDict", str(data), "-sighanPostProcessing", "true", "-keepAllWhitespaces", "false"]
    # Without file.encoding the JVM might take its default encoding from the locale.
    start = [java, "-Xmx2g", "-Dfile.encoding=UTF-8", "-cp", f"{home}/*", STANFORD_CLASS]
    return [*start, *options, *model, *encoding, "-readStdin", "true"]


def _bare(text: str) -> str:
    return "".join(text.split())


def _stop(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.wait()
