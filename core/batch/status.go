package batch

import (
	"maps"
	"regexp"
	"slices"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// A Tally counts completed rollouts and failures by agent. Completed rows come first, then failures in their order.
type Tally struct {
	agents map[string]*progress
}

type progress struct {
	completed map[string]bool
	failures  map[string]string // last class by rollout, as it is counted
}

func (t *Tally) agent(name string) *progress {
	p := t.agents[name]
	if p == nil {
		if t.agents == nil {
			t.agents = map[string]*progress{}
		}
		p = &progress{map[string]bool{}, map[string]string{}}
		t.agents[name] = p
	}
	return p
}

// Completed takes a completed row. rollout is a text that equal pairs of indices share.
func (t *Tally) Completed(agent, rollout string) { t.agent(agent).completed[rollout] = true }

// Failed takes a failure row. class is empty for one that is falsy.
func (t *Tally) Failed(agent, rollout, class string) {
	if class == "" {
		class = "unknown"
	}
	t.agent(agent).failures[rollout] = class
}

// sums gives the number of completed rollouts of an agent and its failures by class.
func (t *Tally) sums(agent string) (completed int64, failures map[string]int64) {
	failures = map[string]int64{}
	p := t.agents[agent]
	if p == nil {
		return 0, failures
	}
	for rollout, class := range p.failures {
		if !p.completed[rollout] {
			failures[class]++
		}
	}
	return int64(len(p.completed)), failures
}

// An AggregationStatus says whether the metrics of an agent are there.
type AggregationStatus string

// The statuses.
const (
	Deferred AggregationStatus = "deferred" // switched off for the run; no folder shows it
	Pending  AggregationStatus = "pending"
	Failed   AggregationStatus = "error"
	Complete AggregationStatus = "complete"
)

// An Aggregate is the file of aggregate metrics as far as a status needs it.
type Aggregate struct {
	there, sound bool
	entries      map[string]value.Value
}

// NoAggregate stands for a file that is not there.
func NoAggregate() *Aggregate { return &Aggregate{} }

// ReadAggregate reads the text of a file of aggregate metrics.
func ReadAggregate(text []byte) *Aggregate {
	a := &Aggregate{there: true, entries: map[string]value.Value{}}
	list, err := value.Strict(text)
	if err != nil || list.Kind() != jsonscan.Array {
		return a
	}
	for _, entry := range list.Items() {
		name := entry.Get("agent_ref").Get("name")
		if !entry.IsObject() || !name.Truthy() {
			return a
		}
		key := value.Key(name)
		if _, twice := a.entries[key]; twice {
			return a
		}
		a.entries[key] = entry
	}
	a.sound = true
	return a
}

// of gives the status of one agent, the metrics it has and the error if there is one.
func (a *Aggregate) of(agent string, expected []string) (status AggregationStatus, keys []string, problem value.Value) {
	kind := func(name string, more ...value.Member) value.Value {
		return value.Object(append([]value.Member{value.M("type", value.Text(name))}, more...)...)
	}
	keys = []string{}
	switch {
	case !a.there:
		return Pending, keys, value.Value{}
	case !a.sound:
		return Failed, keys, kind("InvalidAggregateMetricsArtifact")
	}
	entry, ok := a.entries[value.Key(value.Text(agent))]
	if !ok {
		return Failed, keys, kind("MissingAggregateMetricsEntry")
	}
	for _, m := range entry.Get("key_metrics").Members() {
		keys = append(keys, m.Key)
	}
	slices.Sort(keys)
	if e := entry.Get("aggregation_error"); e.Exists() {
		name := "AggregationError"
		if v := e.Get("type"); v.Truthy() {
			var text bool
			if name, text = v.Text(); !text {
				name = v.String()
			}
		}
		problem = kind(name)
		if status := e.Get("http_status"); status.Kind() == jsonscan.Int || status.Kind() == jsonscan.Bool {
			problem = problem.With("http_status", status)
		}
		return Failed, keys, problem
	}
	missing := []string{}
	for _, key := range expected {
		if !slices.Contains(keys, key) {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		return Failed, keys, kind("MissingExpectedMetricKeys", value.M("missing_metric_keys", value.Texts(missing)))
	}
	return Complete, keys, value.Value{}
}

// A StatusMember is what a status says about one agent.
type StatusMember struct {
	Member      *Member
	Observed    *Observed // nil if the agent was not observed
	Completed   int64
	Remaining   integer.Int
	Failures    map[string]int64
	MetricKeys  []string
	Aggregation AggregationStatus
	Error       value.Value // absent without one
}

// Derive makes the members of a status, by agent, from what was saved.
func (m *Manifest) Derive(o *Observation, t *Tally, a *Aggregate) []StatusMember {
	list := []StatusMember{}
	for i := range m.Members {
		member := &m.Members[i]
		s := StatusMember{Member: member, Observed: o.Agent(member.Agent)}
		s.Completed, s.Failures = t.sums(member.Agent)
		if left := member.Rollouts.Add(integer.Of(-s.Completed)); left.Sign() > 0 {
			s.Remaining = left
		}
		s.Aggregation, s.MetricKeys, s.Error = a.of(member.Agent, member.MetricKeys)
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b StatusMember) int {
		if a.Member.Agent < b.Member.Agent {
			return -1
		}
		return 1
	})
	return list
}

// fields lists what a status says about one agent, in the order of the document.
func (s *StatusMember) fields() []value.Member {
	sources, dataset, tasks, repeats := value.Null, value.Null, value.Null, value.Null
	if o := s.Observed; o != nil {
		sources, dataset, tasks, repeats = value.Texts(o.TaskSources), value.Text(o.Dataset), value.Int(o.Tasks), policy(value.Int(o.Repeats), o.Seeded)
	}
	return []value.Member{
		value.M("benchmark_slug", value.Text(s.Member.Slug)),
		value.M("resolved_recipe_sha256", value.Text(s.Member.Recipe)),
		value.M("observed_task_sources", sources),
		value.M("observed_dataset_sha256", dataset),
		value.M("observed_task_count", tasks),
		value.M("expected_rollout_count", value.Whole(s.Member.Rollouts)),
		value.M("completed_rollout_count", value.Int(s.Completed)),
		value.M("remaining_rollout_count", value.Whole(s.Remaining)),
		value.M("failures_by_class", finding.Counts(s.Failures)),
		value.M("repeat_policy", repeats),
		value.M("expected_metric_keys", value.Texts(s.Member.MetricKeys)),
		value.M("observed_metric_keys", value.Texts(s.MetricKeys)),
		value.M("aggregation_status", value.Text(string(s.Aggregation))),
		value.M("aggregation_error", s.Error),
	}
}

// Document is the member as a status has it.
func (s *StatusMember) Document() value.Value {
	fields := s.fields()
	if !s.Error.Exists() {
		fields = fields[:len(fields)-1]
	}
	return value.Object(fields...)
}

// Members are the members as documents have them, by agent.
func Members(list []StatusMember) value.Value {
	members := make([]value.Member, len(list))
	for i := range list {
		members[i] = value.M(list[i].Member.Agent, list[i].Document())
	}
	return value.Object(members...)
}

// Status is the text of a status document (spec run-folder §4.5). updated is the time of the last update, as the
// reference writes it.
func Status(manifestSHA256, updated string, list []StatusMember) []byte {
	document := value.Object(value.M("schema_version", value.Text("1")), value.M("manifest_sha256", value.Text(manifestSHA256)),
		value.M("updated_at", value.Text(updated)), value.M("members", Members(list)))
	return append(document.Sorted().AppendIndented(nil, false), '\n')
}

// A Comparison says how a saved status was compared.
type Comparison string

// The comparisons.
const (
	Match            Comparison = "match"
	Stale            Comparison = "stale"
	Mismatch         Comparison = "mismatch"
	UnreadableStatus Comparison = "unreadable"
)

// A Difference is a value that a saved status has otherwise than the files give it. Member is empty for the document
// as a whole.
type Difference struct {
	ID             string
	Member         string
	Field          string
	Saved, Derived value.Value
}

// Document is the difference as documents have it.
func (d *Difference) Document() value.Value {
	return value.Object(append([]value.Member{value.M("id", value.Text(d.ID))}, d.values()...)...)
}

func (d *Difference) values() []value.Member {
	return []value.Member{value.M("member", value.TextOrNull(d.Member)), value.M("field", value.Text(d.Field)), value.M("saved", d.Saved), value.M("derived", d.Derived)}
}

// A StatusCheck is the result of holding a saved status against the files.
type StatusCheck struct {
	Comparison  Comparison
	Differences []Difference
	Findings    []finding.Finding
}

var updatedAt = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})?Z$`)

// Interrupted tells how many rollouts of an agent are of unknown fate and have an outcome of a class as their newest.
type Interrupted func(agent, class string) int64

// Compare holds the text of a saved status against the derived members (spec batch-status §8).
func (m *Manifest) Compare(text []byte, manifestSHA256 string, derived []StatusMember, interrupted Interrupted, run, file string) StatusCheck {
	c := StatusCheck{Differences: []Difference{}}
	found := func(id string, values ...value.Member) {
		c.Findings = append(c.Findings, finding.New(id, run, file, values...))
	}
	document, err := value.Strict(text)
	if err != nil || !document.Get("members").IsObject() {
		c.Comparison = UnreadableStatus
		if err != nil {
			found(finding.BatchMalformed)
		} else {
			found(finding.BatchUnreadable)
		}
		return c
	}
	differ := func(id, member, field string, saved, derived value.Value) {
		d := Difference{id, member, field, saved.OrNull(), derived.OrNull()}
		c.Differences = append(c.Differences, d)
		found(id, d.values()...)
	}
	if saved := document.Get("manifest_sha256"); !saved.Is(manifestSHA256) {
		differ(finding.StatusOtherManifest, "", "manifest_sha256", saved, value.Text(manifestSHA256))
	}
	names, agents := []string{}, []string{}
	saved := document.Get("members")
	for _, member := range saved.Members() {
		names = append(names, member.Key)
	}
	for i := range derived {
		agents = append(agents, derived[i].Member.Agent)
	}
	if slices.Sort(names); !slices.Equal(names, agents) {
		differ(finding.StatusMembers, "", "members", value.Texts(names), value.Texts(agents))
	}
	deferred := []string{}
	for i := range m.Members {
		agent := m.Members[i].Agent
		at := slices.Index(agents, agent)
		member := saved.Get(agent)
		if !member.Exists() {
			continue
		}
		if member.Get("aggregation_status").Is(string(Deferred)) {
			deferred = append(deferred, agent)
		}
		compareMember(&derived[at], member, interrupted, differ)
	}
	if len(deferred) > 0 {
		slices.Sort(deferred)
		found(finding.Deferred, value.M("agents", value.Texts(deferred)))
	}
	if updated := document.Get("updated_at"); !matches(updated) {
		found(finding.StatusTime, value.M("updated_at", updated.OrNull()))
	}
	c.Comparison = Match
	for _, d := range c.Differences {
		if d.ID != finding.StatusStale {
			c.Comparison = Mismatch
			break
		}
		c.Comparison = Stale
	}
	return c
}

func matches(v value.Value) bool {
	text, ok := v.Text()
	return ok && updatedAt.MatchString(text)
}

// The fields of a member are compared in three groups, by what a difference means.
var (
	fixedFields    = []string{"benchmark_slug", "resolved_recipe_sha256", "observed_task_sources", "observed_dataset_sha256", "observed_task_count", "expected_rollout_count", "repeat_policy", "expected_metric_keys"}
	progressFields = []string{"completed_rollout_count", "remaining_rollout_count", "failures_by_class"}
	resultFields   = []string{"observed_metric_keys", "aggregation_status", "aggregation_error"}
)

func compareMember(derived *StatusMember, saved value.Value, interrupted Interrupted, differ func(id, member, field string, saved, derived value.Value)) {
	agent := derived.Member.Agent
	fields := value.Object(derived.fields()...)
	status, _ := saved.Get("aggregation_status").Text()
	compare := func(names []string, id func(field string) string) {
		for _, field := range names {
			s, d := saved.Get(field), fields.Get(field)
			if value.Equal(s, d) || field == "observed_dataset_sha256" && derived.Observed != nil && derived.Observed.DatasetOld != "" && s.Is(derived.Observed.DatasetOld) {
				continue
			}
			differ(id(field), agent, field, s, d)
		}
	}
	compare(fixedFields, func(string) string { return finding.StatusMismatch })
	final := status == string(Complete) || status == string(Failed)
	compare(progressFields, func(field string) string {
		if !final || field == "failures_by_class" && surplus(saved.Get(field), derived, interrupted) {
			return finding.StatusStale
		}
		return finding.StatusMismatch
	})
	if status == string(Deferred) {
		return
	}
	compare(resultFields, func(string) string {
		if status == string(Pending) && derived.Aggregation != Pending {
			return finding.StatusStale
		}
		return finding.StatusMismatch
	})
}

// surplus tells whether a saved count of failures is explained by failures that were known at the start and retried in
// vain since.
func surplus(saved value.Value, derived *StatusMember, interrupted Interrupted) bool {
	if !saved.IsObject() {
		return false
	}
	classes := maps.Clone(derived.Failures)
	for _, m := range saved.Members() {
		classes[m.Key] += 0
	}
	for class, now := range classes {
		before := int64(0)
		if v := saved.Get(class); v.Exists() {
			var ok bool
			if before, ok = v.Int64(); !ok {
				return false
			}
		}
		if before < now || before-now > interrupted(derived.Member.Agent, class) {
			return false
		}
	}
	return true
}
