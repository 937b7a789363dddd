"""Where everything lies in a checkout."""

from dataclasses import dataclass
from pathlib import Path

SOURCE_ACCESS = "source_access.json"
"""Beside the public rows of a benchmark: which addresses it keeps from investigations."""


@dataclass(frozen=True)
class Paths:
    """Every place the stages read and write, under one root (the checkout)."""

    root: Path

    @property
    def params(self) -> Path:
        """The human dial."""
        return self.root / "params.yaml"

    @property
    def web(self) -> Path:
        """Stage `world`: `pages.parquet`, `pictures.parquet` and the pictures themselves. Public."""
        return self.root / "data/web"

    @property
    def facts(self) -> Path:
        """Stage `world`: what is true in the world. Private."""
        return self.root / "data/private/facts.json"

    @property
    def candidates(self) -> Path:
        """Stage `benchmark`: cases that wait for review, laid out like `benchmark`. No agent ever reads them."""
        return self.root / "data/candidates"

    @property
    def candidates_gold(self) -> Path:
        """Stage `benchmark`: gold records of the candidates. Private."""
        return self.root / "data/private/candidates"

    @property
    def benchmark(self) -> Path:
        """Stage `panel`: `train.jsonl`, `test.jsonl` and the pictures of the released cases. Public."""
        return self.root / "data/evilens_f"

    @property
    def source_access(self) -> Path:
        """Stage `panel`: addresses that no investigation of the released cases may use; see `SourceAccess`."""
        return self.benchmark / SOURCE_ACCESS

    @property
    def gold(self) -> Path:
        """Stage `panel`: `train.jsonl` and `test.jsonl` of released gold records. Private."""
        return self.root / "data/private/gold"

    @property
    def release(self) -> Path:
        """Stage `panel`: `metadata.jsonl`, which is for publication, and the reviewers' `decisions.jsonl`. Private."""
        return self.root / "data/private/release"

    @property
    def imports(self) -> Path:
        """`eviflow data import`: a folder for each import, laid out like `benchmark`. Public."""
        return self.root / "data/imported"

    @property
    def imports_gold(self) -> Path:
        """`eviflow data import`: gold records of each import, and the rows that were refused. Private."""
        return self.root / "data/private/imported"

    @property
    def episodes(self) -> Path:
        """Stage `episodes`: shards of episodes, and of pictures that tools returned."""
        return self.root / "data/episodes"

    @property
    def reviewed(self) -> Path:
        """Stage `review`: `episodes.parquet`, admitted ones only, and `decisions.jsonl` on all of them."""
        return self.root / "data/reviewed"

    @property
    def rerolled(self) -> Path:
        """Stage `reroll`: a folder for each later phase, `episodes.parquet` of what was admitted, and the rest."""
        return self.root / "data/rerolled"

    @property
    def base_policy(self) -> Path:
        """Stage `policy`: the untrained student, a Hugging Face folder."""
        return self.root / "models/base"

    @property
    def sft_rows(self) -> Path:
        """Stage `sft-rows`: shards of training rows, `processor.json`, `statistics.json`, and what was left out."""
        return self.root / "data/sft"

    @property
    def sft_policy(self) -> Path:
        """Stage `sft`: the trained student, a Hugging Face folder."""
        return self.root / "models/sft"

    @property
    def evaluation(self) -> Path:
        """Stage `evaluation`: judged episodes, `metrics.json` and `report.html`."""
        return self.root / "reports/evaluation"

    @property
    def investigations(self) -> Path:
        """`eviflow investigate`: a page for each picture and policy, the newest."""
        return self.root / "reports/investigations"

    @property
    def metrics(self) -> Path:
        """Small JSON files of the data stages, kept in git: `benchmark.json`, `panel.json`, `review.json`, ..."""
        return self.root / "reports/data"

    @property
    def data_card(self) -> Path:
        """The data card, for people: a view of the release, made anew whenever it is wanted."""
        return self.metrics / "card.html"

    @property
    def reviews(self) -> Path:
        """What people decided: panels, and a ledger for each reviewer. No run can make them again; kept in git."""
        return self.root / "reviews"

    @property
    def work(self) -> Path:
        """Unfinished work that a resumed run picks up, caches, locks. May be deleted at rest."""
        return self.root / ".eviflow"

    @property
    def quarantine(self) -> Path:
        """Replies of language models that nobody may act on, as they came."""
        return self.work / "quarantine"

    @property
    def cache(self) -> Path:
        """Answers that are the same every time they are asked for."""
        return self.work / "cache"
