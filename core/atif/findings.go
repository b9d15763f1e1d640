package atif

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// A Validity tells by which rules a document is valid.
type Validity struct{ Gym, Harbor, Importable bool }

// Has tells whether a file that a document names is there; nil where that is not known.
type Has func(name string) bool

// Check holds the text of a document against all profiles and against itself (spec atif §7). has may be nil.
func Check(text []byte, name string, has Has) (Validity, []finding.Finding) {
	var (
		v    Validity
		list []finding.Finding
	)
	add := func(id string, values ...value.Member) { list = append(list, finding.New(id, "", name, values...)) }
	problems := func(id string, all []Problem) {
		for _, p := range all {
			add(id, value.M("path", value.Text(orRoot(p.Path))), value.M("reason", value.Text(p.Reason)))
		}
	}
	doc, err := Strict(text)
	if err != nil {
		// What the strict reader refuses may be JSON all the same.
		problems(finding.ATIFInvalidGym, []Problem{{"", err.Error()}})
		if doc, err = value.Parse(text, value.Leniency{}); err != nil {
			return v, []finding.Finding{finding.New(finding.ATIFUnreadable, "", name, value.M("reason", value.Text(err.Error())))}
		}
	} else {
		gym := Problems(doc, Gym)
		v.Gym = len(gym) == 0
		problems(finding.ATIFInvalidGym, gym)
	}
	if !Looks(doc) {
		add(finding.ATIFUnreadable, value.M("reason", value.Text("there is no list of steps with an agent or a version of the format")))
		return v, list
	}
	if version, ok := doc.Get("schema_version").Text(); ok && !contains(HarborVersions, version) {
		add(finding.ATIFUnknownVersion, value.M("version", value.Text(version)))
	}
	harbor := Problems(doc, Harbor)
	v.Harbor = len(harbor) == 0
	problems(finding.ATIFInvalidHarbor, harbor)
	if v.Gym {
		var refused *ImportError
		if err := Importable(doc); errors.As(err, &refused) {
			problems(finding.ATIFNotImportable, []Problem{refused.Problem})
		}
		v.Importable = refused == nil
	} else {
		problems(finding.ATIFNotImportable, []Problem{{"", "the document is not valid for NeMo Gym"}})
	}
	if task, rollout, ok := indicesOf(path.Base(name)); ok {
		source(doc, task, rollout, add)
	}
	c := checking{add: add, has: has, dir: path.Dir(name)}
	c.document("", doc, doc)
	return v, list
}

// indicesOf takes the name of an exported file apart.
func indicesOf(name string) (task, rollout integer.Int, ok bool) {
	name, isJSON := strings.CutSuffix(name, ".json")
	first, second, two := strings.Cut(name, "-")
	for _, s := range [...]string{first, second} {
		if s == "" || strings.Trim(s, "0123456789") != "" {
			return task, rollout, false
		}
	}
	task, okTask := integer.Parse(first)
	rollout, okRollout := integer.Parse(second)
	return task, rollout, isJSON && two && okTask && okRollout
}

// source holds the indices that a document declares against those that it should have.
func source(doc value.Value, task, rollout integer.Int, add func(string, ...value.Member)) {
	declared := doc.Get("extra").Get("nemo_gym").Get("source")
	for _, f := range [...]struct {
		name string
		want integer.Int
	}{{"task_index", task}, {"rollout_index", rollout}} {
		saved := declared.Get(f.name)
		if !saved.Exists() {
			continue
		}
		if n, ok := saved.Whole(); !ok || saved.Kind() != jsonscan.Int || n.Cmp(f.want) != 0 {
			add(finding.ATIFSourceIdentity, value.M("field", value.Text(f.name)), value.M("saved", value.Short(saved)), value.M("made", value.Whole(f.want)))
		}
	}
}

func contains(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}

func orRoot(path string) string {
	if path == "" {
		return "document"
	}
	return path
}

type checking struct {
	add func(string, ...value.Member)
	has Has
	dir string
}

// document looks for what the profiles let pass and a reader should know.
func (c *checking) document(where string, doc, root value.Value) {
	steps := doc.Get("steps").Items()
	c.totals(where, doc, steps)
	for i, step := range steps {
		number := value.M("step", value.Int(int64(i)+1))
		results := step.Get("observation").Get("results").Items()
		calls := map[string]bool{}
		for _, call := range step.Get("tool_calls").Items() {
			if id, ok := call.Get("tool_call_id").Text(); ok {
				calls[id] = false
			}
		}
		for _, result := range results {
			if id, ok := result.Get("source_call_id").Text(); ok {
				if _, there := calls[id]; !there {
					c.add(finding.ATIFObservationOrphan, value.M("tool", value.Text(id)), number)
				} else {
					calls[id] = true
				}
			}
			c.media(result.Get("content"))
			for _, ref := range result.Get("subagent_trajectory_ref").Items() {
				c.subagent(where, i, ref, doc, root)
			}
		}
		c.media(step.Get("message"))
		for _, call := range step.Get("tool_calls").Items() {
			if id, ok := call.Get("tool_call_id").Text(); ok && !calls[id] {
				calls[id] = true
				c.add(finding.ATIFToolUnanswered, value.M("tool", value.Text(id)), number)
			}
		}
	}
	for _, sub := range doc.Get("subagent_trajectories").Items() {
		if Looks(sub) {
			c.document(where+"subagent ", sub, root)
		}
	}
}

// media looks for the files of images and sounds.
func (c *checking) media(content value.Value) {
	if c.has == nil {
		return
	}
	for _, part := range content.Items() {
		file, ok := part.Get("source").Get("path").Text()
		if !ok || strings.Contains(file, "://") || strings.HasPrefix(file, "data:") {
			continue
		}
		if full := path.Join(c.dir, file); !c.has(full) {
			c.add(finding.ATIFMissingMedia, value.M("path", value.Text(file)))
		}
	}
}

// subagent looks for the trajectory that a result refers to.
func (c *checking) subagent(where string, step int, ref, doc, root value.Value) {
	if id, ok := ref.Get("trajectory_id").Text(); ok {
		for _, sub := range append(doc.Get("subagent_trajectories").Items(), root.Get("subagent_trajectories").Items()...) {
			if sub.Get("trajectory_id").Is(id) {
				return
			}
		}
		if _, also := ref.Get("trajectory_path").Text(); !also {
			c.add(finding.ATIFDanglingSubagent, value.M("path", value.Text(where+"step "+ordinal(step))), value.M("value", value.Text(id)))
			return
		}
	}
	if file, ok := ref.Get("trajectory_path").Text(); ok && c.has != nil && !strings.Contains(file, "://") && !c.has(path.Join(c.dir, file)) {
		c.add(finding.ATIFDanglingSubagent, value.M("path", value.Text(where+"step "+ordinal(step))), value.M("value", value.Text(file)))
	}
}

// totals holds the totals of a document against its steps.
func (c *checking) totals(where string, doc value.Value, steps []value.Value) {
	final := doc.Get("final_metrics")
	if n, ok := final.Get("total_steps").Whole(); ok && n.Cmp(integer.Of(int64(len(steps)))) != 0 && !doc.Get("notes").Truthy() {
		c.add(finding.ATIFTotalSteps, value.M("saved", value.Whole(n)), value.M("made", value.Int(int64(len(steps)))))
	}
	for _, name := range [...]string{"prompt_tokens", "completion_tokens", "cached_tokens"} {
		saved := final.Get("total_" + name)
		n, ok := saved.Whole()
		if !ok {
			continue
		}
		var sum integer.Int
		all, any := true, false
		for _, step := range steps {
			if copied, _ := step.Get("is_copied_context").Truth(); copied || !step.Get("source").Is("agent") {
				continue
			}
			if calls, ok := step.Get("llm_call_count").Whole(); ok && calls.Sign() == 0 {
				continue
			}
			k, known := step.Get("metrics").Get(name).Whole()
			all, any = all && known, true
			sum = sum.Add(k)
		}
		if all && any && sum.Cmp(n) != 0 {
			c.add(finding.ATIFMetricsSum, value.M("field", value.Text(where+"total_"+name)), value.M("saved", saved), value.M("made", value.Whole(sum)))
		}
	}
}

// A Manifested file is an entry of a manifest with the bytes of its file, nil where it is not there.
type Manifested struct {
	Entry Entry
	File  string // resolved path
	Text  []byte
	Found bool
}

// CheckManifest holds the entries of a manifest against their files and each other (spec atif §6, §7).
func CheckManifest(name string, list []Manifested) []finding.Finding {
	var found []finding.Finding
	type repeated struct{ what, value string }
	seen := map[repeated]bool{}
	for i := range list {
		m := &list[i]
		at := func(id string, values ...value.Member) {
			found = append(found, finding.New(id, "", name, values...).At(int64(m.Entry.Line), 0))
		}
		once := func(what, text string) {
			if seen[repeated{what, text}] {
				at(finding.ATIFDuplicate, value.M("what", value.Text(what)), value.M("value", value.Text(text)))
			}
			seen[repeated{what, text}] = true
		}
		once("rollout", m.Entry.Key())
		once("file", m.File)
		if m.Entry.Digest == "" {
			at(finding.ATIFUnpinned, value.M("path", value.Text(m.Entry.Path)))
		}
		if !m.Found {
			at(finding.ATIFMissingFile, value.M("path", value.Text(m.Entry.Path)))
			continue
		}
		sum := sha256.Sum256(m.Text)
		digest := hex.EncodeToString(sum[:])
		if m.Entry.Digest != "" && m.Entry.Digest != digest {
			at(finding.ATIFHashMismatch, value.M("made", value.Text(digest)), value.M("saved", value.Text(m.Entry.Digest)))
		}
		once("digest", digest)
		doc, err := Strict(m.Text)
		if err != nil || !doc.IsObject() {
			continue
		}
		id, _ := doc.Get("trajectory_id").Text()
		if id = strings.TrimSpace(id); id == "" {
			id = ContentHash(doc)
		}
		once("identity", id)
		source(doc, m.Entry.Task, m.Entry.Rollout, at)
	}
	return found
}

// CompareExport holds an exported document against one that was made of its rollout again. The version of the exporter
// is no part of it, nor are the names that an export is given.
func CompareExport(saved, made value.Value, name string) []finding.Finding {
	session := saved.Get("session_id")
	if text, ok := session.Text(); ok {
		source := made.Get("extra").Get("nemo_gym").Get("source")
		id := fmt.Sprintf("%s:%s:%s", text, source.Get("task_index"), source.Get("rollout_index"))
		made = made.With("session_id", session).With("trajectory_id", value.Text(id))
	}
	if version := saved.Get("agent").Get("version"); version.Exists() {
		made = made.With("agent", made.Get("agent").With("version", version))
	}
	d := value.Differ{Most: 1, Skip: func(p string, _, _ value.Value) bool { return p == "extra.nemo_gym.exporter.version" }}
	d.Compare("", saved, made)
	var found []finding.Finding
	for _, one := range d.List {
		found = append(found, finding.New(finding.ATIFExportMismatch, "", name,
			value.M("path", value.Text(orRoot(one.Path))), value.M("saved", value.Short(one.A)), value.M("made", value.Short(one.B))))
	}
	return found
}
