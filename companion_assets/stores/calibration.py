"""A scale of similarity that means the same for every embedder.

Raw cosines do not: unrelated texts reach 0.83 with e5 and 0.13 with MiniLM. So each index keeps the distribution of
the cosines between its own chunks and questions that have nothing to do with them, and a score says how far above
that background a cosine lies.

The background is drawn with questions, not with pairs of chunks: an embedder with separate prefixes for questions and
passages puts two passages much closer to each other (e5, one person's vault: 99.9 % of unrelated pairs of passages
below 0.94, of questions and passages below 0.84, while right answers lie between 0.86 and 0.91).
"""

import math

import numpy as np
import numpy.typing as npt

from companion_assets.contracts.manifests import Calibration

# Questions about the world, not about a person's notes. That a few of them are answered in some vault does no harm:
# the 99.9th percentile is over all of them.
PROBES = (
    "What causes the northern lights?",
    "How does a suspension bridge carry its load?",
    "Who was the first emperor of Rome?",
    "What is the boiling point of mercury?",
    "How do penguins recognise their chicks?",
    "Which sonata form did Haydn prefer in his late quartets?",
    "What happens inside a star when its hydrogen runs out?",
    "How many players are on a water polo team?",
    "Why did the Hanseatic League decline?",
    "What does the Coriolis effect do to ocean currents?",
    "How is parchment made from animal skin?",
    "Which enzyme unwinds the DNA double helix?",
    "What is the offside rule in ice hockey?",
    "How did the Phoenicians navigate at night?",
    "What are the ingredients of gunpowder?",
    "When was the Suez Canal opened to ships?",
    "How does a diesel locomotive transmit its power?",
    "What language family does Quechua belong to?",
    "Why do leaves change their colour in autumn?",
    "What is the maximum depth of the Mariana Trench?",
    "How do antibodies bind to a virus?",
    "Which treaty ended the Thirty Years' War?",
    "How is steel hardened by quenching?",
    "What do sea cucumbers eat?",
    "Who composed the opera about a barber in Seville?",
    "What is the difference between a comet and an asteroid?",
    "How does a heat pump move heat uphill?",
    "Which crops did the Maya grow in raised fields?",
    "What is the capital of Burkina Faso?",
    "How do glaciers carve fjords?",
    "What makes a prime number a Mersenne prime?",
    "How were the pyramids' stones cut?",
    "Wie entsteht ein Tsunami?",
    "Welche Aufgaben hat der Bundesrat?",
    "Wer erfand den Buchdruck mit beweglichen Lettern?",
    "¿Cómo se forman las estalactitas en una cueva?",
    "¿Qué animales viven en la selva de Borneo?",
    "¿Quién escribió la primera gramática castellana?",
    "Comment fonctionne un réacteur à eau pressurisée ?",
    "Quels rois ont régné sur le Portugal au XIVe siècle ?",
    "Quale vulcano distrusse Pompei?",
    "火山为什么会喷发？",
    "唐朝的首都在哪里？",
    "光合作用需要哪些条件？",
    "富士山の高さはどれくらいですか？",
    "江戸時代の身分制度とは何ですか？",
    "조선 시대의 과거 제도는 어떻게 시행되었나요?",
    "Как работает атомный ледокол?",
)

_STEEPNESS = 3.0
_EVEN = 0.73


def draw_background(questions: npt.NDArray[np.float32], chunks: npt.NDArray[np.float32], rows: int) -> Calibration:
    """The distribution of unrelated cosines.

    Args:
        questions: float32[q, d], `PROBES` embedded as questions.
        chunks: float32[n, d], a sample of the index's vectors, n ≥ 1.
        rows: How many rows the index has.
    """
    cosines = (_unit(questions) @ _unit(chunks).T).ravel()
    p50, p999 = np.quantile(cosines, [0.5, 0.999])
    return Calibration(p50=float(p50), p999=float(p999), pairs=len(cosines), chunks=rows)


def standardised(cosine: float, unrelated: Calibration) -> float:
    """How far a cosine lies above the background: 0 at its median, 1 at its 99.9th percentile."""
    return (cosine - unrelated.p50) / max(unrelated.p999 - unrelated.p50, 1e-6)


def score_of(evidence: float) -> float:
    """Map standardised evidence to 0–1: 0.10 at 0, 0.69 at 1, 0.75 (the default threshold) at 1.1, 0.97 at 1.9.

    Source: with e5, the best hit of a question that a vault answers reaches 1.1 in 93 (demo vault, half of the
    questions in another language than the notes) to 100 (development vault) of 100; docs/retrieval_experiments.md.
    """
    return 1.0 / (1.0 + math.exp(min(-_STEEPNESS * (evidence - _EVEN), 700.0)))


def calibrated(cosine: float, unrelated: Calibration) -> float:
    """The score of a cosine alone, the same for every embedder."""
    return score_of(standardised(cosine, unrelated))


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    unit: npt.NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
