package batch

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// An Observation is what the materialized inputs say about each agent.
type Observation struct {
	Agents []Observed // in order of first appearance, without those that were left out
	Errors []Error    // in the reference's order
}

// Observed is what one agent is given.
type Observed struct {
	Agent       string
	TaskSources []string // sorted
	Dataset     string   // digest
	DatasetOld  string   // digest in the older float text; empty if it is the same
	Tasks       int64
	Rollouts    int64
	Repeats     int64
	Seeded      bool
}

// An Error says why the inputs are not fit for a batch. Line is 0 if it is about no single row.
type Error struct {
	ID           string
	Line, Offset int64
	Values       []value.Member
}

// Finding is the error as a finding about the inputs.
func (e *Error) Finding(run, file string) finding.Finding {
	f := finding.New(e.ID, run, file, e.Values...)
	if e.Line > 0 {
		f = f.At(e.Line, e.Offset)
	}
	return f
}

// Agent finds what an agent is given, nil if it was not observed.
func (o *Observation) Agent(name string) *Observed {
	for i := range o.Agents {
		if o.Agents[i].Agent == name {
			return &o.Agents[i]
		}
	}
	return nil
}

// An Observer looks at the materialized inputs row by row. The zero Observer is ready.
type Observer struct {
	errors   []Error
	agents   []*agent
	byName   map[string]int32
	seen     map[place]bool
	position int64
	writer   value.Writer
	text     []byte
}

// A place is the agent and the indices of a row.
type place struct {
	agent         int32
	task, rollout uint64
}

type agent struct {
	name      string
	sources   map[string]bool
	tasks     []task
	byTask    map[uint64]int32
	rows      int64
	withSeed  int64
	content   []Error // rows that differ from the first of their task
	untyped   []Error // rows at whose parameters the reference stops
	wildSeeds []Error // rows at whose seed it stops
	seeds     map[seed]bool
	digest    hash.Hash
	old       hash.Hash // with the older float text; nil as long as it is the same
}

type task struct {
	index   uint64
	content [sha256.Size]byte
	repeats int64
	twice   bool // two of its seeds are the same
}

type seed struct {
	task int32
	form [16]byte
}

// header begins every dataset digest.
const header = "nemo-gym-batch-dataset-v1\x00"

// Row looks at the next row of the inputs, which stands on a line of the file.
func (o *Observer) Row(row jsonscan.Value, line, offset int64) {
	position := value.M("position", value.Int(o.position))
	o.position++
	refuse := func(id string, more ...value.Member) {
		o.errors = append(o.errors, Error{id, line, offset, append([]value.Member{position}, more...)})
	}
	ref := row.Get("agent_ref")
	if ref.Truthy() && !ref.IsObject() {
		refuse(finding.BatchUntypedCrash, value.M("field", value.Text("agent_ref")))
		return
	}
	name := ref.Get("name").Text()
	task, taskOK := index(row.Get("_ng_task_index"))
	rollout, rolloutOK := index(row.Get("_ng_rollout_index"))
	source := row.Get("task_source").Text()
	switch {
	case blank(name):
		refuse(finding.RowAgent)
		return
	case !taskOK:
		refuse(finding.RowTaskIndex)
		return
	case !rolloutOK:
		refuse(finding.RowRolloutIndex)
		return
	case blank(source):
		refuse(finding.RowTaskSource)
		return
	}
	number, known := o.byName[name]
	if known && o.seen[place{number, task, rollout}] {
		refuse(finding.RowDuplicate)
		return
	}
	if !known {
		number = o.add(name)
	}
	o.seen[place{number, task, rollout}] = true
	a := o.agents[number]
	a.rows++
	a.sources[source] = true
	at := o.content(a, row, task, func(id string, more ...value.Member) Error {
		return Error{id, line, offset, append([]value.Member{position}, more...)}
	})
	form, has, untyped, wild := seedOf(row)
	crash := Error{finding.BatchUntypedCrash, line, offset, []value.Member{position, value.M("field", value.Text(untyped))}}
	switch {
	case untyped == seedField && wild:
		a.withSeed++
		a.wildSeeds = append(a.wildSeeds, crash)
	case untyped != "":
		a.untyped = append(a.untyped, crash)
	case has:
		a.withSeed++
		sum := sha256.Sum256(form)
		key := seed{at, [16]byte(sum[:16])}
		if a.seeds[key] {
			a.tasks[at].twice = true
		}
		a.seeds[key] = true
	}
}

func (o *Observer) add(name string) int32 {
	if o.byName == nil {
		o.byName, o.seen = map[string]int32{}, map[place]bool{}
	}
	number := int32(len(o.agents))
	o.byName[name] = number
	a := &agent{name: name, sources: map[string]bool{}, byTask: map[uint64]int32{}, seeds: map[seed]bool{}, digest: sha256.New()}
	a.digest.Write([]byte(header))
	o.agents = append(o.agents, a)
	return number
}

// index reads an index: a whole number from 0 on.
func index(v jsonscan.Value) (uint64, bool) {
	n, ok := v.Integer()
	return n.Magnitude, ok && (!n.Negative || n.Magnitude == 0)
}

// content takes the content of a row: the first of a task goes into the digest, later ones must be the same.
func (o *Observer) content(a *agent, row jsonscan.Value, index uint64, refuse func(string, ...value.Member) Error) int32 {
	o.writer.Exponent = false
	o.text = o.canonical(o.text[:0], row, value.Batch)
	sum := sha256.Sum256(o.text)
	at, known := a.byTask[index]
	if !known {
		at = int32(len(a.tasks))
		a.byTask[index] = at
		a.tasks = append(a.tasks, task{index: index, content: sum})
		exponent := o.writer.Exponent
		if exponent && a.old == nil {
			a.old, _ = a.digest.(hash.Cloner).Clone()
		}
		framed(a.digest, o.text)
		if a.old != nil {
			if exponent {
				o.text = o.canonical(o.text[:0], row, value.BatchOld)
			}
			framed(a.old, o.text)
		}
	} else if a.tasks[at].content != sum {
		a.content = append(a.content, refuse(finding.TaskContent, value.M("agent", value.Text(a.name)), value.M("task", wholeIndex(index))))
	}
	a.tasks[at].repeats++
	return at
}

func wholeIndex(n uint64) value.Value { return value.Whole(integer.FromUint(false, n)) }

// framed writes a text behind its length.
func framed(h hash.Hash, text []byte) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(text)))
	h.Write(length[:])
	h.Write(text)
}

// perRow lists members that do not belong to the content of a task.
var perRow = []string{"agent_ref", "_ng_task_index", "_ng_rollout_index", "_ng_rollout_id", "_ng_attempt_index", "skills_ref"}

// canonical appends the canonical bytes of a row: its content without the seed (spec batch-status §3).
func (o *Observer) canonical(dst []byte, row jsonscan.Value, form *value.Form) []byte {
	body := row.Get("responses_create_params").Get("metadata").Get("extra_body")
	if parsed, ok := extraBody(body); !ok || !parsed.Get("seed").Exists() {
		return o.writer.Append(dst, row, form, perRow...)
	}
	content := value.Of(row).Without(perRow...)
	params := content.Get("responses_create_params")
	metadata := params.Get("metadata")
	extra := metadata.Get("extra_body")
	text := extra.Kind() == jsonscan.String
	if text {
		extra, _ = extraBody(body)
	}
	switch extra = extra.Without("seed"); {
	case extra.Len() == 0:
		metadata = metadata.Without("extra_body")
	case text:
		metadata = metadata.With("extra_body", value.Text(string(extra.Append(nil, value.Inner))))
	default:
		metadata = metadata.With("extra_body", extra)
	}
	if metadata.Len() == 0 {
		params = params.Without("metadata")
	} else {
		params = params.With("metadata", metadata)
	}
	content = content.With("responses_create_params", params)
	if form == value.Batch {
		plain := content.Append(nil, value.Batch)
		o.writer.Exponent = string(plain) != string(content.Append(nil, value.BatchOld))
		return append(dst, plain...)
	}
	return content.Append(dst, form)
}

// extraBody reads the member extra_body, an object or the text of one; ok is false for everything else.
func extraBody(v jsonscan.Value) (body value.Value, ok bool) {
	switch v.Kind() {
	case jsonscan.Object:
		return value.Of(v), true
	case jsonscan.String:
		body, err := value.Parse(v.AppendText(nil), value.Leniency{Surrogates: true})
		return body, err == nil && body.IsObject()
	}
	return body, false
}

const seedField = "seed"

// seedOf finds the seed of a row in its serialised form. untyped names the member at whose shape the reference stops;
// it stops at a wild seed only when seeds are compared.
func seedOf(row jsonscan.Value) (form []byte, has bool, untyped string, wild bool) {
	const field = "responses_create_params"
	params := row.Get(field)
	if !params.IsObject() {
		if params.Truthy() {
			untyped = field
		}
		return nil, false, untyped, false
	}
	metadata := params.Get("metadata")
	if !metadata.IsObject() {
		if metadata.Truthy() {
			untyped = field
		}
		return nil, false, untyped, false
	}
	body, ok := extraBody(metadata.Get("extra_body"))
	if !ok {
		return nil, false, "", false
	}
	seed := body.Get("seed")
	if !seed.Exists() {
		return nil, false, "", false
	}
	if seed.Wide() || halves(seed) {
		return nil, true, seedField, true
	}
	return seed.Append(nil, value.Batch), true, "", false
}

// halves tells whether a value holds half of a surrogate pair.
func halves(v value.Value) bool {
	if text, ok := v.Text(); ok {
		return !utf8.ValidString(text)
	}
	for _, m := range v.Members() {
		if !utf8.ValidString(m.Key) || halves(m.Value) {
			return true
		}
	}
	return slices.ContainsFunc(v.Items(), halves)
}

// Observation is what all rows say together.
func (o *Observer) Observation() *Observation {
	result := &Observation{Agents: []Observed{}, Errors: slices.Clone(o.errors)}
	for _, a := range o.agents {
		if observed, ok := a.observe(result); ok {
			result.Agents = append(result.Agents, observed)
		}
	}
	if len(result.Errors) == 0 && len(o.agents) == 0 {
		result.Errors = append(result.Errors, Error{ID: finding.NoMembers})
	}
	return result
}

func (a *agent) observe(result *Observation) (observed Observed, ok bool) {
	name := value.M("agent", value.Text(a.name))
	result.Errors = append(result.Errors, a.content...)
	repeats := map[int64]bool{}
	for i := range a.tasks {
		repeats[a.tasks[i].repeats] = true
	}
	switch {
	case len(repeats) > 1:
		counts := []value.Value{}
		for _, n := range slices.Sorted(maps.Keys(repeats)) {
			counts = append(counts, value.Int(n))
		}
		result.Errors = append(result.Errors, Error{ID: finding.NonUniform, Values: []value.Member{name, value.M("repeats", value.List(counts...))}})
		return observed, false
	case len(a.untyped) > 0:
		result.Errors = append(result.Errors, a.untyped...)
		return observed, false
	case a.withSeed > 0 && a.withSeed < a.rows:
		result.Errors = append(result.Errors, Error{ID: finding.PartialSeeds, Values: []value.Member{name, value.M("with_seed", value.Int(a.withSeed)), value.M("rows", value.Int(a.rows))}})
		return observed, false
	case len(a.wildSeeds) > 0:
		result.Errors = append(result.Errors, a.wildSeeds...)
		return observed, false
	}
	for i := range a.tasks {
		if t := &a.tasks[i]; t.twice {
			result.Errors = append(result.Errors, Error{ID: finding.DuplicateSeeds, Values: []value.Member{name, value.M("task", wholeIndex(t.index))}})
		}
	}
	observed = Observed{
		Agent: a.name, TaskSources: slices.Sorted(maps.Keys(a.sources)), Dataset: hex.EncodeToString(a.digest.Sum(nil)),
		Tasks: int64(len(a.tasks)), Rollouts: a.rows, Repeats: a.tasks[0].repeats, Seeded: a.withSeed > 0,
	}
	if a.old != nil {
		if old := hex.EncodeToString(a.old.Sum(nil)); old != observed.Dataset {
			observed.DatasetOld = old
		}
	}
	return observed, true
}

// policy is a repeat policy as documents have it.
func policy(repeats value.Value, seeded bool) value.Value {
	return value.Object(value.M("num_repeats", repeats), value.M("seeded", value.Bool(seeded)))
}

// Document is what one agent is given, as the batch command prints it.
func (o *Observed) Document() value.Value {
	return value.Object(value.M("agent", value.Text(o.Agent)), value.M("task_sources", value.Texts(o.TaskSources)),
		value.M("dataset_sha256", value.Text(o.Dataset)), value.M("dataset_sha256_old_floats", value.TextOrNull(o.DatasetOld)),
		value.M("task_count", value.Int(o.Tasks)), value.M("rollout_count", value.Int(o.Rollouts)),
		value.M("repeat_policy", policy(value.Int(o.Repeats), o.Seeded)))
}

// Validate holds an observation without errors against the manifest (spec batch-status §5). The inputs fit if nothing
// but notes is found.
func (m *Manifest) Validate(o *Observation, run, file string) (list []finding.Finding, fits bool) {
	fits = true
	agents := map[string]bool{}
	missing, unexpected := []string{}, []string{}
	for _, member := range m.Members {
		agents[member.Agent] = true
		if o.Agent(member.Agent) == nil {
			missing = append(missing, member.Agent)
		}
	}
	for _, a := range o.Agents {
		if !agents[a.Agent] {
			unexpected = append(unexpected, a.Agent)
		}
	}
	apart := func(id string, names []string) {
		if len(names) > 0 {
			slices.Sort(names)
			list = append(list, finding.New(id, run, file, value.M("agents", value.Texts(names))))
			fits = false
		}
	}
	apart(finding.MissingAgents, missing)
	apart(finding.UnexpectedAgents, unexpected)
	for i := range m.Members {
		member := &m.Members[i]
		seen := o.Agent(member.Agent)
		if seen == nil {
			continue
		}
		if member.Dataset != seen.Dataset && member.Dataset == seen.DatasetOld {
			list = append(list, finding.New(finding.OldFloatText, run, file, value.M("member", value.Text(member.Slug)), value.M("agent", value.Text(member.Agent))))
			seen = &Observed{seen.Agent, seen.TaskSources, seen.DatasetOld, "", seen.Tasks, seen.Rollouts, seen.Repeats, seen.Seeded}
		}
		for _, field := range [...]struct {
			name               string
			expected, observed value.Value
		}{
			{"task_sources", value.Texts(member.TaskSources), value.Texts(seen.TaskSources)},
			{"dataset_sha256", value.Text(member.Dataset), value.Text(seen.Dataset)},
			{"expected_task_count", value.Whole(member.Tasks), value.Int(seen.Tasks)},
			{"expected_rollout_count", value.Whole(member.Rollouts), value.Int(seen.Rollouts)},
			{"repeat_policy", policy(value.Whole(member.Repeats), member.Seeded), policy(value.Int(seen.Repeats), seen.Seeded)},
		} {
			if !value.Equal(field.expected, field.observed) {
				list = append(list, finding.New(finding.BatchMismatch, run, file, value.M("member", value.Text(member.Slug)), value.M("field", value.Text(field.name)),
					value.M("expected", field.expected), value.M("observed", field.observed)))
				fits = false
			}
		}
	}
	return list, fits
}
