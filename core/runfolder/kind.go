package runfolder

import "strings"

// A Kind is the id of what a file is.
type Kind string

// The kinds a run folder knows. The kinds of other files, named by their endings, are in the table alone.
const (
	Rollouts           Kind = "rollouts"
	PackedRollouts     Kind = "packed_rollouts"
	MaterializedInputs Kind = "materialized_inputs"
	Failures           Kind = "failures"
	Attempts           Kind = "attempts"
	RewardProfiling    Kind = "reward_profiling"
	AggregateMetrics   Kind = "aggregate_metrics"
	RepeatLevelMetrics Kind = "repeat_level_metrics"
	AgentMetrics       Kind = "agent_metrics"
	Manifest           Kind = "manifest"
	Coverage           Kind = "coverage"
	RunLock            Kind = "run_lock"
	QualitySummary     Kind = "quality_summary"
	RolloutVerdicts    Kind = "rollout_verdicts"
	BatchStatus        Kind = "batch_status"
	BatchManifest      Kind = "batch_manifest"
	Capture            Kind = "capture"
	TokenCapture       Kind = "token_capture"
	CollectorLock      Kind = "collector_lock"
	Temporary          Kind = "temporary"
	Unknown            Kind = "unknown"
)

// A Group gathers kinds by how they hang together with a run.
type Group string

// The groups.
const (
	GroupRollouts  Group = "rollouts"  // candidates for the rollouts file of a run
	GroupCompanion Group = "companion" // tied to a rollouts file by its stem
	GroupFolder    Group = "folder"    // belongs to the directory, whatever runs are in it
	GroupCapture   Group = "capture"   // recorded model calls, of no run by name
	GroupLeftover  Group = "leftover"  // locks and temporaries
	GroupOther     Group = "other"     // not part of a run folder
)

// KindInfo explains a kind. Pages and help are printed from it.
type KindInfo struct {
	Kind  Kind
	Group Group
	Role  string // name in the files list of verify (spec run-commands §2)
	Title string // as shown in a list: "failures sidecar"
	Text  string // one sentence: what is in it
	Read  bool   // whether this version reads it
	Empty bool   // whether a size of 0 bytes is in order

	suffix string   // of a companion, after the stem
	names  []string // whole names, or endings when ends is set
	ends   bool
}

// Kinds lists every kind: first those of a run folder in the order their rules are tried, then the others.
var Kinds = []KindInfo{
	{Kind: Rollouts, Group: GroupRollouts, Role: "results", Title: "rollouts", Read: true,
		Text: "One completed rollout per line."},
	{Kind: PackedRollouts, Group: GroupRollouts, Role: "results", Title: "packed rollouts", Read: true,
		Text: "A rollouts file packed with gzip."},

	{Kind: MaterializedInputs, Group: GroupCompanion, Role: "inputs", Title: "materialized inputs", suffix: "_materialized_inputs.jsonl",
		Text: "One expanded input row per expected rollout, written before the first request."},
	{Kind: Failures, Group: GroupCompanion, Role: "failures", Title: "failures sidecar", suffix: "_failures.jsonl", Empty: true,
		Text: "One failure or omission per line."},
	{Kind: Attempts, Group: GroupCompanion, Role: "journal", Title: "attempt journal", suffix: "_attempts.jsonl", Empty: true,
		Text: "Journal of a withdrawn format; beside it the run cannot be resumed or indexed."},
	{Kind: RewardProfiling, Group: GroupCompanion, Role: "reward_profiling", Title: "reward profile", suffix: "_reward_profiling.jsonl",
		Text: "Output of the profile command: one line per task."},
	{Kind: AggregateMetrics, Group: GroupCompanion, Role: "aggregate_metrics", Title: "aggregate metrics", suffix: "_aggregate_metrics.json",
		Text: "Saved metrics, one entry per agent or environment server."},
	{Kind: RepeatLevelMetrics, Group: GroupCompanion, Role: "repeat_level_metrics", Title: "repeat level metrics", suffix: "_repeat_level_metrics.json",
		Text: "Output of the profile command, by repeat."},
	{Kind: AgentMetrics, Group: GroupCompanion, Role: "agent_metrics", Title: "agent metrics", suffix: "_agent_metrics.json",
		Text: "Output of the profile command, by agent."},
	{Kind: Manifest, Group: GroupCompanion, Role: "manifest", Title: "run manifest", suffix: "_manifest.json",
		Text: "Identity of the run and its attempt reservations."},
	{Kind: Coverage, Group: GroupCompanion, Role: "coverage", Title: "coverage", suffix: "_coverage.json",
		Text: "Saved snapshot of what was expected, measured and missing."},
	{Kind: RunLock, Group: GroupCompanion, Role: "lock", Title: "run lock", suffix: "_run.lock", Empty: true,
		Text: "Lock file of a run. It is never removed and says nothing about whether the run is active."},

	{Kind: QualitySummary, Group: GroupFolder, Role: "quality_summary", Title: "health summary", names: []string{"quality_summary.json"},
		Text: "Saved summary of a health run."},
	{Kind: RolloutVerdicts, Group: GroupFolder, Role: "rollout_verdicts", Title: "health verdicts", names: []string{"rollout_verdicts.jsonl"}, Empty: true,
		Text: "Saved verdicts of a health run, one rollout per line."},
	{Kind: BatchStatus, Group: GroupFolder, Role: "batch_status", Title: "batch status", names: []string{"batch_status.json"},
		Text: "Saved state of the members of a batch."},
	{Kind: BatchManifest, Group: GroupFolder, Role: "batch_manifest", Title: "batch manifest",
		Text: "What a scheduler expects of each member of a batch."},

	{Kind: Capture, Group: GroupCapture, Role: "capture", Title: "model call capture", ends: true, Empty: true,
		names: []string{".capture.jsonl", ".capture.incomplete"},
		Text:  "Recorded model calls of one attempt."},
	{Kind: TokenCapture, Group: GroupCapture, Role: "capture", Title: "token capture", ends: true, Empty: true,
		names: []string{".tokens.jsonl", ".tokens.state.json", ".lineage.jsonl"},
		Text:  "Recorded tokens of one attempt."},
	{Kind: CollectorLock, Group: GroupLeftover, Role: "lock", Title: "collector lock", names: []string{".collector.lock"}, Empty: true,
		Text: "Lock file of a checkpoint directory. It says nothing about whether a collection is active."},
	{Kind: Temporary, Group: GroupLeftover, Role: "temporary", Title: "temporary", Empty: true,
		Text: "A file that was being written when its program stopped."},

	other("inspect_log", "Inspect log", "A log of Inspect in its packed form.", ".eval"),
	other("agent_trajectory", "agent trajectory", "A trajectory of SWE-agent or mini-swe-agent.", ".traj", ".traj.json"),
	other("parquet", "Parquet table", "A table in columns.", ".parquet"),
	other("json_lines", "JSON lines", "Lines of JSON under another ending than .jsonl.", ".ndjson", ".jsonlines", ".jsonl"),
	other("json", "JSON document", "One JSON value.", ".json", ".geojson", ".json5"),
	other("archive", "archive", "A file that holds other files.", ".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst", ".7z", ".rar", ".whl", ".jar"),
	other("gzip", "gzip", "A file packed with gzip.", ".gz"),
	other("packed", "packed file", "A file packed with another method than gzip.", ".zst", ".zstd", ".xz", ".bz2", ".lz4", ".br"),
	other("picture", "picture", "An image.", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".avif", ".heic", ".ico", ".tif", ".tiff"),
	other("audio", "audio", "A sound recording.", ".wav", ".mp3", ".flac", ".ogg", ".m4a", ".opus"),
	other("video", "video", "A film.", ".mp4", ".webm", ".mov", ".mkv", ".avi"),
	other("document", "document", "A document to read.", ".pdf", ".docx", ".xlsx", ".pptx", ".html", ".htm"),
	other("table", "table", "A table as text.", ".csv", ".tsv"),
	other("settings", "settings", "A configuration.", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".env"),
	other("program", "program text", "Source text of a program.", ".py", ".sh", ".go", ".js", ".ts", ".c", ".h", ".cpp", ".rs", ".java", ".ipynb", ".sql", ".css"),
	other("text", "text", "Plain text.", ".txt", ".md", ".log", ".rst", ".out", ".err", ".diff", ".patch"),
	other("arrays", "arrays", "Numbers of a model or a computation.", ".npy", ".npz", ".pt", ".pth", ".safetensors", ".pkl", ".pickle", ".bin", ".h5"),
	other("database", "database", "A database in one file.", ".db", ".sqlite", ".sqlite3", ".duckdb"),
	{Kind: "system", Group: GroupOther, Role: "other", Title: "system file", Text: "Made by an operating system for itself.", Empty: true,
		names: []string{".DS_Store", "Thumbs.db", "desktop.ini"}},
	{Kind: Unknown, Group: GroupOther, Role: "other", Title: "unknown", Text: "Nothing is known about a file of this name."},
}

func other(kind Kind, title, text string, endings ...string) KindInfo {
	return KindInfo{Kind: kind, Group: GroupOther, Role: "other", Title: title, Text: text, names: endings, ends: true}
}

var (
	byKind    = map[Kind]*KindInfo{}
	byName    = map[string]Kind{} // whole names; those of other files too
	byEnding  = map[string]Kind{} // of other files, lower case
	companion []*KindInfo
	captures  []*KindInfo
)

func init() {
	for i := range Kinds {
		k := &Kinds[i]
		byKind[k.Kind] = k
		switch {
		case k.suffix != "":
			companion = append(companion, k)
		case k.Group == GroupCapture:
			captures = append(captures, k)
		case k.ends:
			for _, e := range k.names {
				byEnding[e] = k.Kind
			}
		default:
			for _, n := range k.names {
				byName[n] = k.Kind
			}
		}
	}
}

// Info explains k. A kind that is not in the table is explained as Unknown.
func (k Kind) Info() KindInfo {
	if info := byKind[k]; info != nil {
		return *info
	}
	return *byKind[Unknown]
}

// Stem gives the stem of a rollouts file's name: the name without its last extension. A dot at the start or the end
// of a name makes no extension.
func Stem(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 && i < len(name)-1 {
		return name[:i]
	}
	return name
}

const (
	plainExt  = ".jsonl"
	packedExt = ".jsonl.gz"
)

// byRules gives the kind of a name that decides by itself (rules 1–3 and the first half of 4), with the stem when it
// is a companion or a rollouts file. Unknown means that the other names in the directory decide.
func byRules(name string) (kind Kind, stem string) {
	for _, k := range companion {
		if stem, ok := strings.CutSuffix(name, k.suffix); ok && stem != "" {
			return k.Kind, stem
		}
	}
	if k, ok := byName[name]; ok && byKind[k].Group != GroupOther {
		return k, ""
	}
	for _, k := range captures {
		for _, ending := range k.names {
			if strings.HasSuffix(name, ending) {
				return k.Kind, ""
			}
		}
	}
	if temporary(name) {
		return Temporary, ""
	}
	if stem := Stem(name); stem+plainExt == name {
		return Rollouts, stem
	}
	return Unknown, ""
}

func temporary(name string) bool {
	if strings.HasSuffix(name, ".upload.tmp") {
		return true
	}
	rest, dotted := strings.CutPrefix(name, ".")
	return dotted && (strings.HasSuffix(name, ".tmp") || strings.Contains(rest, ".migrate-"))
}

// packedStem gives the stem a packed rollouts file had before it was packed.
func packedStem(name string) (string, bool) {
	stem, ok := strings.CutSuffix(name, packedExt)
	return stem, ok && stem != ""
}

// byEndings names a file that is no part of a run folder: the longest ending that is known counts, in any case.
func byEndings(name string) Kind {
	if k, ok := byName[name]; ok {
		return k
	}
	lower := strings.ToLower(name)
	for i := 0; i < len(lower)-1; i++ {
		if lower[i] == '.' {
			if k, ok := byEnding[lower[i:]]; ok {
				return k
			}
		}
	}
	return Unknown
}
