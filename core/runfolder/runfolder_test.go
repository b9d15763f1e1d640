package runfolder

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sorted makes files of size 1 from paths; "path=0" gives another size.
func sorted(paths ...string) *Listing { return Sort(list(paths...)) }

func list(paths ...string) []File {
	files := make([]File, len(paths))
	for i, p := range paths {
		size := int64(1)
		if at := strings.LastIndexByte(p, '='); at >= 0 {
			fmt.Sscan(p[at+1:], &size)
			p = p[:at]
		}
		files[i] = File{Path: p, Size: size}
	}
	return files
}

// describe writes a listing as one line per file and one per run.
func describe(l *Listing) string {
	var b strings.Builder
	for _, i := range l.Order {
		e := l.Entries[i]
		fmt.Fprintf(&b, "%s: %s", e.Name, e.Kind)
		if e.Run >= 0 {
			fmt.Fprintf(&b, " of %s, stem %s", l.Runs[e.Run].Name, e.Stem)
		}
		if e.Candidate {
			b.WriteString(", lost")
		}
		if e.SameAs >= 0 {
			b.WriteString(", twice")
		}
		b.WriteByte('\n')
	}
	for _, r := range l.Runs {
		fmt.Fprintf(&b, "run %s: %d shards, %d companions, %d parts", r.Name, len(r.Shards), len(r.Companions), len(r.Parts))
		if r.Missing {
			b.WriteString(", missing")
		}
		b.WriteByte('\n')
	}
	for _, p := range l.Problems {
		fmt.Fprintf(&b, "%s %s %s\n", p.Severity, p.Code, l.Entries[p.Index].Name)
	}
	return b.String()
}

func rollouts(l *Listing) []string {
	names := []string{}
	for _, i := range l.Rollouts() {
		names = append(names, l.Entries[i].Name)
	}
	return names
}

func TestKindOfName(t *testing.T) {
	tests := []struct {
		name string
		kind Kind
		stem string
	}{
		// the name table
		{"rollouts.jsonl", Rollouts, "rollouts"},
		{"rollouts_failures.jsonl", Failures, "rollouts"},
		{"rollouts_materialized_inputs.jsonl", MaterializedInputs, "rollouts"},
		{"rollouts_aggregate_metrics.json", AggregateMetrics, "rollouts"},
		{"rollouts_manifest.json", Manifest, "rollouts"},
		{"rollouts_coverage.json", Coverage, "rollouts"},
		{"rollouts_run.lock", RunLock, "rollouts"},
		{"rollouts_attempts.jsonl", Attempts, "rollouts"},
		{"rollouts_reward_profiling.jsonl", RewardProfiling, "rollouts"},
		{"rollouts_agent_metrics.json", AgentMetrics, "rollouts"},
		{"rollouts_repeat_level_metrics.json", RepeatLevelMetrics, "rollouts"},
		{"quality_summary.json", QualitySummary, ""},
		{"rollout_verdicts.jsonl", RolloutVerdicts, ""},
		{"batch_status.json", BatchStatus, ""},
		{"rollouts.jsonl.upload.tmp", Temporary, ""},
		{".rollouts_manifest.json.0123456789abcdef0123456789abcdef.tmp", Temporary, ""},
		{".batch_status.json.4711.tmp", Temporary, ""},
		{".rollouts.jsonl.migrate-k3", Temporary, ""},
		{".collector.lock", CollectorLock, ""},
		{"0-0.capture.jsonl", Capture, ""},
		{"0-0-a1.capture.incomplete", Capture, ""},
		{"0-0.tokens.jsonl", TokenCapture, ""},
		{"0-0.tokens.state.json", TokenCapture, ""},
		{"0-0.lineage.jsonl", TokenCapture, ""},
		{"unsafe_rollouts.jsonl", Rollouts, "unsafe_rollouts"},
		{"unsafe_rollouts_failures.jsonl", Failures, "unsafe_rollouts"},
		// stems
		{"rollouts.v2.jsonl", Rollouts, "rollouts.v2"},
		{"rollouts.v2_failures.jsonl", Failures, "rollouts.v2"},
		{"a_failures_failures.jsonl", Failures, "a_failures"},
		{"_failures.jsonl", Rollouts, "_failures"},
		{"__failures.jsonl", Failures, "_"},
		{"_manifest.json", Unknown, ""},
		{"_run.lock", Unknown, ""},
		{"a_failures.json", Unknown, ""},
		{"a_manifest.jsonl", Rollouts, "a_manifest"},
		{"afailures.jsonl", Rollouts, "afailures"},
		// order of the rules
		{"a.capture.jsonl_failures.jsonl", Failures, "a.capture.jsonl"},
		{"a.upload.tmp_run.lock", RunLock, "a.upload.tmp"},
		{".x.migrate-1_failures.jsonl", Failures, ".x.migrate-1"},
		{"x_quality_summary.json", Unknown, ""},
		{"rollout_verdicts_failures.jsonl", Failures, "rollout_verdicts"},
		{".a.migrate-b.jsonl", Temporary, ""},
		{"a.migrate-b.jsonl", Rollouts, "a.migrate-b"},
		{".migrate-b.jsonl", Rollouts, ".migrate-b"},
		{"..migrate-b", Temporary, ""},
		{".tmp", Temporary, ""},
		{"a.tmp", Unknown, ""},
		{".a.jsonl", Rollouts, ".a"},
		{".capture.jsonl", Capture, ""},
		{"capture.jsonl", Rollouts, "capture"},
		// odd names
		{"", Unknown, ""},
		{".", Unknown, ""},
		{"jsonl", Unknown, ""},
		{".jsonl", Unknown, ""},
		{"..jsonl", Rollouts, "."},
		{"a.", Unknown, ""},
		{"a.jsonl.", Unknown, ""},
		{"a.JSONL", Unknown, ""},
		{"a.jsonl ", Unknown, ""},
		{"a.jsonl.gz", Unknown, ""},
		{"<b>&.jsonl", Rollouts, "<b>&"},
		{`run\rollouts.jsonl`, Rollouts, `run\rollouts`},
		{"\xff\x00.jsonl", Rollouts, "\xff\x00"},
		{"ролл_failures.jsonl", Failures, "ролл"},
	}
	for _, tt := range tests {
		if kind, stem := byRules(tt.name); kind != tt.kind || stem != tt.stem {
			t.Errorf("%q: %s of %q, want %s of %q", tt.name, kind, stem, tt.kind, tt.stem)
		}
	}
}

func TestKindByEnding(t *testing.T) {
	tests := map[string]Kind{
		"log.eval": "inspect_log", "a.PNG": "picture", "a.tar.gz": "archive", "a.jsonl.gz": "gzip", ".gz": "gzip", "a.traj.json": "agent_trajectory",
		"a.json": "json", "A.JSONL": "json_lines", "notes.txt": "text", "LICENSE": Unknown, "a.": Unknown, "": Unknown, ".": Unknown,
		"x.é": Unknown, ".DS_Store": "system", "config.yaml": "settings", "completions_00010.parquet": "parquet", "a.zst": "packed",
	}
	for name, want := range tests {
		if got := byEndings(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func TestStem(t *testing.T) {
	tests := map[string]string{
		"rollouts.jsonl": "rollouts", "rollouts.v2.jsonl": "rollouts.v2", "out": "out", "x.jsonl.gz": "x.jsonl",
		".jsonl": ".jsonl", "a.": "a.", "": "", ".": ".", "..": "..", "..a": ".", "a..b": "a.", "a.b.": "a.b.",
	}
	for name, want := range tests {
		if got := Stem(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestSort(t *testing.T) {
	tests := []struct {
		name  string
		paths []string
		want  string
	}{
		{"nothing", nil, ""},
		{"case 35: companions are no rollouts",
			[]string{"rollouts_materialized_inputs.jsonl", "rollouts_failures.jsonl", "rollouts.jsonl"}, `
rollouts.jsonl: rollouts of rollouts, stem rollouts
rollouts_failures.jsonl: failures of rollouts, stem rollouts
rollouts_materialized_inputs.jsonl: materialized_inputs of rollouts, stem rollouts
run rollouts: 1 shards, 2 companions, 1 parts
`},
		{"case 41: shards, the whole folder",
			[]string{"41/expect.md", "41/results/rollouts-rs1-chunk0.jsonl", "41/results/rollouts-rs10-chunk0.jsonl", "41/results/rollouts-rs10-chunk1.jsonl",
				"41/results/rollouts-rs2-chunk0.jsonl", "41/results/rollouts-rs2-chunk0_failures.jsonl", "41/results/rollouts-rs2-chunk0_materialized_inputs.jsonl"}, `
expect.md: text
results/rollouts-rs1-chunk0.jsonl: rollouts of results/rollouts-rs*-chunk*, stem rollouts-rs1-chunk0
results/rollouts-rs2-chunk0.jsonl: rollouts of results/rollouts-rs*-chunk*, stem rollouts-rs2-chunk0
results/rollouts-rs2-chunk0_failures.jsonl: failures of results/rollouts-rs*-chunk*, stem rollouts-rs2-chunk0
results/rollouts-rs2-chunk0_materialized_inputs.jsonl: materialized_inputs of results/rollouts-rs*-chunk*, stem rollouts-rs2-chunk0
results/rollouts-rs10-chunk0.jsonl: rollouts of results/rollouts-rs*-chunk*, stem rollouts-rs10-chunk0
results/rollouts-rs10-chunk1.jsonl: rollouts of results/rollouts-rs*-chunk*, stem rollouts-rs10-chunk1
run results/rollouts-rs*-chunk*: 4 shards, 2 companions, 4 parts
info unknown_kind expect.md
`},
		{"case 26: empty files",
			[]string{"blank_rollouts.jsonl", "empty.json=0", "expect.md", "rollouts.jsonl=0", "rollouts_failures.jsonl=0", "zero.eval=0"}, `
blank_rollouts.jsonl: rollouts of blank_rollouts, stem blank_rollouts
empty.json: json
expect.md: text
rollouts.jsonl: rollouts of rollouts, stem rollouts
rollouts_failures.jsonl: failures of rollouts, stem rollouts
zero.eval: inspect_log
run blank_rollouts: 1 shards, 0 companions, 1 parts
run rollouts: 1 shards, 1 companions, 1 parts
info empty_source empty.json
info unknown_kind expect.md
info empty_source rollouts.jsonl
info empty_source zero.eval
`},
		{"case 28: packed",
			[]string{"padded.jsonl.gz", "rollouts.jsonl.gz"}, `
padded.jsonl.gz: packed_rollouts of padded, stem padded
rollouts.jsonl.gz: packed_rollouts of rollouts, stem rollouts
run padded: 1 shards, 0 companions, 1 parts
run rollouts: 1 shards, 0 companions, 1 parts
`},
		{"packed beside its source is the same data", []string{"a.jsonl.gz", "a.jsonl"}, `
a.jsonl: rollouts of a, stem a
a.jsonl.gz: packed_rollouts of a, stem a, lost
run a: 1 shards, 0 companions, 1 parts
warning layout.ambiguous_output a.jsonl
`},
		{"packed afterwards keeps its companions", []string{"a.jsonl.gz", "a_failures.jsonl"}, `
a.jsonl.gz: packed_rollouts of a, stem a
a_failures.jsonl: failures of a, stem a
run a: 1 shards, 1 companions, 1 parts
`},
		{"written under the packed name", []string{"a.jsonl.gz", "a.jsonl_failures.jsonl", "a.jsonl"}, `
a.jsonl: rollouts of a, stem a
a.jsonl.gz: packed_rollouts of a.jsonl, stem a.jsonl
a.jsonl_failures.jsonl: failures of a.jsonl, stem a.jsonl
run a: 1 shards, 0 companions, 1 parts
run a.jsonl: 1 shards, 1 companions, 1 parts
`},
		{"packed and plain shards", []string{"r-10.jsonl.gz", "r-2.jsonl"}, `
r-2.jsonl: rollouts of r-*, stem r-2
r-10.jsonl.gz: packed_rollouts of r-*, stem r-10
run r-*: 2 shards, 0 companions, 2 parts
`},
		{"other extensions need a companion",
			[]string{"out", "out_failures.jsonl", "log.txt", "log_coverage.json", "free", "free.txt"}, `
free: unknown
free.txt: text
log.txt: rollouts of log, stem log
log_coverage.json: coverage of log, stem log
out: rollouts of out, stem out
out_failures.jsonl: failures of out, stem out
run log: 1 shards, 1 companions, 1 parts
run out: 1 shards, 1 companions, 1 parts
info unknown_kind free
info unknown_kind free.txt
`},
		{"another stem's companion, another directory's", []string{"a/x.json", "b/x_failures.jsonl", "a/y_failures.jsonl"}, `
a/x.json: json
a/y_failures.jsonl: failures of a/y, stem y
b/x_failures.jsonl: failures of b/x, stem x
run a/y: 0 shards, 1 companions, 1 parts, missing
run b/x: 0 shards, 1 companions, 1 parts, missing
info unknown_kind a/x.json
warning layout.orphan_companion a/y_failures.jsonl
warning layout.orphan_companion b/x_failures.jsonl
`},
		{"ambiguous candidates", []string{"a.txt", "a.jsonl", "a.json", "a_run.lock"}, `
a.json: json of a, stem a, lost
a.jsonl: rollouts of a, stem a
a.txt: text of a, stem a, lost
a_run.lock: run_lock of a, stem a
run a: 1 shards, 1 companions, 1 parts
warning layout.ambiguous_output a.jsonl
`},
		{"a jsonl file is one without companions, its neighbour is not", []string{"a.json", "a.jsonl"}, `
a.json: json
a.jsonl: rollouts of a, stem a
run a: 1 shards, 0 companions, 1 parts
info unknown_kind a.json
`},
		{"missing output, with and without an inventory",
			[]string{"b_failures.jsonl", "b_reward_profiling.jsonl", "c_materialized_inputs.jsonl", "d_manifest.json", "d_failures.jsonl=0"}, `
b_failures.jsonl: failures of b, stem b
b_reward_profiling.jsonl: reward_profiling of b, stem b
c_materialized_inputs.jsonl: materialized_inputs of c, stem c
d_failures.jsonl: failures of d, stem d
d_manifest.json: manifest of d, stem d
run b: 0 shards, 2 companions, 1 parts, missing
run c: 0 shards, 1 companions, 1 parts, missing
run d: 0 shards, 2 companions, 1 parts, missing
warning layout.orphan_companion b_failures.jsonl
warning layout.orphan_companion b_reward_profiling.jsonl
warning layout.missing_output c_materialized_inputs.jsonl
error layout.missing_output d_manifest.json
`},
		{"a shard whose rollouts are missing", []string{"r1.jsonl", "r2_failures.jsonl", "r10.jsonl"}, `
r1.jsonl: rollouts of r*, stem r1
r2_failures.jsonl: failures of r*, stem r2
r10.jsonl: rollouts of r*, stem r10
run r*: 2 shards, 1 companions, 3 parts
warning layout.orphan_companion r2_failures.jsonl
`},
		{"sidecar of a sidecar", []string{"a.jsonl", "a_failures.jsonl", "a_failures_failures.jsonl"}, `
a.jsonl: rollouts of a, stem a
a_failures.jsonl: failures of a, stem a
a_failures_failures.jsonl: failures of a_failures, stem a_failures
run a: 1 shards, 1 companions, 1 parts
run a_failures: 0 shards, 1 companions, 1 parts, missing
warning layout.orphan_companion a_failures_failures.jsonl
`},
		{"odd and unsafe names, a journal, leftovers, folder files",
			[]string{"odd.", "odd._failures.jsonl", "unsafe_r.jsonl", "unsafe_.jsonl", "r.jsonl", "r_attempts.jsonl=0", ".r.jsonl.migrate-k3=0", "r.jsonl.upload.tmp=0",
				".collector.lock=0", "quality_summary.json", "rollout_verdicts.jsonl", "batch_status.json", "captures/0-0.capture.jsonl"}, `
.collector.lock: collector_lock
.r.jsonl.migrate-k3: temporary
batch_status.json: batch_status
captures/0-0.capture.jsonl: capture
odd.: rollouts of odd., stem odd.
odd._failures.jsonl: failures of odd., stem odd.
quality_summary.json: quality_summary
r.jsonl: rollouts of r, stem r
r.jsonl.upload.tmp: temporary
r_attempts.jsonl: attempts of r, stem r
rollout_verdicts.jsonl: rollout_verdicts
unsafe_.jsonl: rollouts of unsafe_, stem unsafe_
unsafe_r.jsonl: rollouts of unsafe_r, stem unsafe_r
run odd.: 1 shards, 1 companions, 1 parts
run r: 1 shards, 1 companions, 1 parts
run unsafe_: 1 shards, 0 companions, 1 parts
run unsafe_r: 1 shards, 0 companions, 1 parts
info layout.leftover_temp .r.jsonl.migrate-k3
warning layout.odd_name odd.
info layout.leftover_temp r.jsonl.upload.tmp
error layout.draft_journal r_attempts.jsonl
info layout.unsafe_reverification unsafe_r.jsonl
`},
		{"digits alone join, anything else does not",
			[]string{"a1.jsonl", "a01.jsonl", "a.jsonl", "a1b.jsonl", "A1.jsonl", "a-1.jsonl", "d/a2.jsonl"}, `
A1.jsonl: rollouts of A1, stem A1
a-1.jsonl: rollouts of a-1, stem a-1
a.jsonl: rollouts of a, stem a
a1.jsonl: rollouts of a*, stem a1
a01.jsonl: rollouts of a*, stem a01
a1b.jsonl: rollouts of a1b, stem a1b
d/a2.jsonl: rollouts of d/a2, stem a2
run A1: 1 shards, 0 companions, 1 parts
run a-1: 1 shards, 0 companions, 1 parts
run a: 1 shards, 0 companions, 1 parts
run a*: 2 shards, 0 companions, 2 parts
run a1b: 1 shards, 0 companions, 1 parts
run d/a2: 1 shards, 0 companions, 1 parts
`},
		{"the same file twice", []string{"a.jsonl=5", "b.txt=5", "a.jsonl=5", "b.txt=5", "a_failures.jsonl=0", "a_failures.jsonl=0"}, `
a.jsonl: rollouts of a, stem a
a.jsonl: rollouts, twice
a_failures.jsonl: failures of a, stem a
a_failures.jsonl: failures, twice
b.txt: text
b.txt: text, twice
run a: 1 shards, 1 companions, 1 parts
warning duplicate_source a.jsonl
warning duplicate_source a_failures.jsonl
info unknown_kind b.txt
warning duplicate_source b.txt
`},
		{"two folders that look alike",
			[]string{"run/a.jsonl=5", "run/a_failures.jsonl=3", "run/a.jsonl=6", "run/a_failures.jsonl=4", "run/a.jsonl=6"}, `
a.jsonl: rollouts of a, stem a
a.jsonl (2): rollouts of a (2), stem a
a.jsonl (2): rollouts, twice
a_failures.jsonl: failures of a, stem a
a_failures.jsonl (2): failures of a (2), stem a
run a: 1 shards, 1 companions, 1 parts
run a (2): 1 shards, 1 companions, 1 parts
warning duplicate_source a.jsonl (2)
warning duplicate_source a.jsonl (2)
warning duplicate_source a_failures.jsonl (2)
`},
		{"a system file says nothing", []string{".DS_Store", "a.png"}, `
.DS_Store: system
a.png: picture
info unknown_kind a.png
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := sorted(tt.paths...)
			if got := describe(l); got != strings.TrimPrefix(tt.want, "\n") {
				t.Errorf("got\n%s", got)
			}
			checkListing(t, l)
		})
	}
}

func TestShownNames(t *testing.T) {
	tests := []struct{ paths, names []string }{
		{[]string{"run/a.jsonl", "run/b/c.jsonl"}, []string{"a.jsonl", "b/c.jsonl"}},
		{[]string{"run/b/a.jsonl", "run/b/c.jsonl"}, []string{"b/a.jsonl", "b/c.jsonl"}}, // one folder was dropped, so one is not shown
		{[]string{"run/a.jsonl"}, []string{"a.jsonl"}},
		{[]string{"run/a.jsonl", "run2/a.jsonl"}, []string{"run/a.jsonl", "run2/a.jsonl"}},
		{[]string{"run/a.jsonl", "run"}, []string{"run/a.jsonl", "run"}},
		{[]string{"run/a.jsonl", "run/"}, []string{"run/a.jsonl", "run/"}},
		{[]string{"a.jsonl", "b.jsonl"}, []string{"a.jsonl", "b.jsonl"}},
		{[]string{"/data/a.jsonl", "/data/b.jsonl"}, []string{"/data/a.jsonl", "/data/b.jsonl"}},
		{[]string{"../a.jsonl", "../b.jsonl"}, []string{"../a.jsonl", "../b.jsonl"}},
		{[]string{"./a.jsonl"}, []string{"./a.jsonl"}},
		{[]string{`run\a.jsonl`, `run\b.jsonl`}, []string{`run\a.jsonl`, `run\b.jsonl`}}, // a backslash is part of the name
	}
	for _, tt := range tests {
		l := sorted(tt.paths...)
		names := []string{}
		for _, e := range l.Entries {
			names = append(names, e.Name)
		}
		if !slices.Equal(names, tt.names) {
			t.Errorf("%q: %q, want %q", tt.paths, names, tt.names)
		}
		checkListing(t, l)
	}
}

func TestFolderOf120(t *testing.T) { // case 50
	var paths []string
	for i := range 120 {
		paths = append(paths, fmt.Sprintf("run/shard-%03d/rollouts.jsonl", (i*37)%120))
	}
	l := sorted(paths...)
	if len(l.Runs) != 120 || len(l.Rollouts()) != 120 || len(l.Problems) != 0 {
		t.Fatalf("%d runs, %d rollouts files, problems %v", len(l.Runs), len(l.Rollouts()), l.Problems)
	}
	for i, r := range l.Runs {
		if want := fmt.Sprintf("shard-%03d/rollouts", i); r.Name != want {
			t.Fatalf("run %d is %s", i, r.Name)
		}
	}
	for i, name := range rollouts(l) {
		if want := fmt.Sprintf("shard-%03d/rollouts.jsonl", i); name != want {
			t.Fatalf("file %d is %s", i, name)
		}
	}
}

func TestRollouts(t *testing.T) {
	// The order is that of the paths, also where the shards of two runs interleave.
	l := sorted("a10x.jsonl", "a1.jsonl", "a2x.jsonl", "a10.jsonl", "b.jsonl.gz", "c.json", "c_failures.jsonl", "c.jsonl", "a1.jsonl")
	want := []string{"a1.jsonl", "a2x.jsonl", "a10.jsonl", "a10x.jsonl", "b.jsonl.gz", "c.jsonl"}
	if got := rollouts(l); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := sorted().Rollouts(); got == nil || len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestShardsDoNotDependOnTheDrop(t *testing.T) { // case 41
	folder := sorted("results/r-rs2.jsonl", "results/r-rs1.jsonl", "results/r-rs10.jsonl", "results/r-rs2_failures.jsonl")
	files := sorted("r-rs10.jsonl", "r-rs2.jsonl", "r-rs1.jsonl")
	if a, b := rollouts(folder), rollouts(files); !slices.Equal(a, b) {
		t.Errorf("%q and %q", a, b)
	}
}

func TestBatchManifest(t *testing.T) {
	files := list("a.jsonl", "a_manifest.json", "b_manifest.json", "plan.yaml", "plan.json", "a_coverage.json", "plan.json")
	asked := map[string]int{}
	l := Options{BatchManifest: func(i int) bool {
		asked[files[i].Path]++
		return files[i].Path == "b_manifest.json" || files[i].Path == "plan.json"
	}}.Sort(files)
	want := `
a.jsonl: rollouts of a, stem a
a_coverage.json: coverage of a, stem a
a_manifest.json: manifest of a, stem a
b_manifest.json: batch_manifest
plan.json: batch_manifest
plan.json: json, twice
plan.yaml: settings
run a: 1 shards, 2 companions, 1 parts
warning duplicate_source plan.json
info unknown_kind plan.yaml
`
	if got := describe(l); got != want[1:] {
		t.Errorf("got\n%s", got)
	}
	if fmt.Sprint(asked) != "map[a_manifest.json:1 b_manifest.json:1 plan.json:1 plan.yaml:1]" {
		t.Errorf("asked about %v", asked)
	}
}

func TestKindTable(t *testing.T) {
	seen := map[Kind]bool{}
	endings := map[string]bool{}
	for _, k := range Kinds {
		if seen[k.Kind] || k.Kind == "" || k.Title == "" || k.Text == "" || k.Role == "" || k.Group == "" {
			t.Errorf("kind %q is not complete or there twice", k.Kind)
		}
		seen[k.Kind] = true
		for _, n := range k.names {
			if endings[n] {
				t.Errorf("%s: %s is there twice", k.Kind, n)
			}
			endings[n] = true
		}
		if k.Kind.Info().Title != k.Title {
			t.Errorf("%s is explained as %s", k.Kind, k.Kind.Info().Title)
		}
	}
	if Kind("no such").Info().Kind != Unknown {
		t.Error("a kind out of the table must be unknown")
	}
}

func TestManyFiles(t *testing.T) {
	var paths []string
	for i := range 20_000 {
		paths = append(paths, fmt.Sprintf("run/%d/rollouts-%d.jsonl", i%7, i), fmt.Sprintf("run/%d/rollouts-%d_failures.jsonl", i%7, i))
	}
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	l := sorted(paths...)
	if len(l.Runs) != 7 || len(l.Rollouts()) != 20_000 || len(l.Problems) != 0 {
		t.Errorf("%d runs, %d files, %d problems", len(l.Runs), len(l.Rollouts()), len(l.Problems))
	}
	checkListing(t, l)
}

func FuzzSort(f *testing.F) {
	f.Add("a.jsonl\na_failures.jsonl\na.jsonl\nb/1.jsonl\nb/02.jsonl.gz")
	f.Add("\n/\n//\n.\n..\n.jsonl\n.jsonl.gz\nx.jsonl.gz\nx.jsonl_run.lock=0")
	f.Fuzz(func(t *testing.T, text string) { checkListing(t, sorted(strings.Split(text, "\n")...)) })
}

// checkListing checks what holds for every listing: each file has one place.
func checkListing(t *testing.T, l *Listing) {
	t.Helper()
	places := make([]int, len(l.Entries))
	for r, run := range l.Runs {
		var shards, companions []int
		for _, p := range run.Parts {
			files := slices.Concat(p.Companions, p.Others)
			if p.Output >= 0 {
				shards = append(shards, p.Output)
				files = append(files, p.Output)
			} else if len(p.Others) > 0 || len(p.Companions) == 0 {
				t.Fatalf("part %q has no file or lost its output", p.Stem)
			}
			companions = append(companions, p.Companions...)
			for _, i := range files {
				places[i]++
				if e := l.Entries[i]; e.Run != r || e.Stem != p.Stem || e.SameAs >= 0 || e.Dir != run.Dir {
					t.Fatalf("%+v is in run %d, part %q", e, r, p.Stem)
				}
			}
		}
		if !slices.Equal(shards, run.Shards) || !slices.Equal(companions, run.Companions) || run.Missing != (len(shards) == 0) || len(run.Parts) == 0 {
			t.Fatalf("run %s does not agree with its parts", run.Name)
		}
		if !slices.IsSortedFunc(run.Shards, l.compare) {
			t.Fatalf("shards of %s are not in order", run.Name)
		}
	}
	for i, e := range l.Entries {
		want := 0
		if e.Run >= 0 {
			want = 1
		}
		if places[i] != want || e.Index != i || e.Kind == "" {
			t.Fatalf("%+v is in %d parts", e, places[i])
		}
	}
	if !slices.IsSortedFunc(l.Order, l.compare) || len(l.Order) != len(l.Entries) {
		t.Fatal("the visible order is not sorted")
	}
	for _, i := range l.Rollouts() {
		if e := l.Entries[i]; !e.Kind.Info().Read || e.Candidate || e.SameAs >= 0 {
			t.Fatalf("%+v is read", e)
		}
	}
}
