package batch

import (
	"math/big"
	"slices"
	"strings"
	"unicode"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/schema"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

// A Result says whether a batch manifest could be read.
type Result string

// The results.
const (
	OK         Result = "ok"
	Unreadable Result = "unreadable" // the file itself
	Malformed  Result = "malformed"  // no JSON
	Invalid    Result = "invalid"    // it breaks its schema
)

// A Manifest is a batch manifest that passed its schema.
type Manifest struct {
	Members []Member // in the order of the text
}

// A Member is what is expected of one agent.
type Member struct {
	Slug        string // of the benchmark
	Agent       string
	TaskSources []string // sorted
	Dataset     string   // digest, lower case
	Tasks       integer.Int
	Rollouts    integer.Int
	Repeats     integer.Int
	Seeded      bool
	Recipe      string   // digest, lower case; never compared with anything
	MetricKeys  []string // sorted
}

// Recognised tells whether a text is that of a batch manifest (spec run-folder §2.1, rule 7).
func Recognised(text []byte) bool {
	// Most documents that are asked about are none, and some are large.
	document, err := new(jsonscan.Scanner).Scan(text)
	if err != nil {
		return false
	}
	some := false
	for m := document.Get("members").Members(); m.Next(); some = true {
		if !m.Value.Get("dataset_sha256").Exists() {
			return false
		}
	}
	return some
}

// ReadManifest reads the text of a batch manifest.
func ReadManifest(text []byte) (m *Manifest, result Result, faults []schema.Fault) {
	document, err := value.Strict(text)
	if err != nil {
		return nil, Malformed, nil
	}
	m = &Manifest{}
	c := schema.Begin(document)
	c.Choice("schema_version", schema.Optional, false, "1")
	size, ok := c.Map("members", schema.Required, func(slug string, v value.Value) {
		before := len(c.Faults())
		member, ok := c.Member("members", slug, v)
		if !ok {
			return
		}
		m.Members = append(m.Members, readMember(slug, member))
		if last := &m.Members[len(m.Members)-1]; len(c.Faults()) == before && !product(last) {
			member.Fault("", schema.ValueError)
		}
	})
	if ok && size == 0 {
		c.Fault("members", schema.TooShort)
	}
	c.End()
	if c.Sound() {
		agents := map[string]bool{}
		for _, member := range m.Members {
			if blank(member.Slug) {
				c.Fault("", schema.ValueError)
				break
			}
			agents[member.Agent] = true
		}
		if c.Sound() && len(agents) < len(m.Members) {
			c.Fault("", schema.ValueError)
		}
	}
	if !c.Sound() {
		return nil, Invalid, c.Faults()
	}
	return m, OK, nil
}

func readMember(slug string, c *schema.Checker) Member {
	m := Member{Slug: slug}
	var ok bool
	if m.Agent, ok = c.Text("agent_name", schema.Required); ok && blank(m.Agent) {
		c.Fault("agent_name", schema.ValueError)
	}
	m.TaskSources = names(c, "task_sources", 1)
	m.Dataset = digest(c, "dataset_sha256")
	m.Tasks, _ = c.Int("expected_task_count", schema.Required, 1, 0, false)
	m.Rollouts, _ = c.Int("expected_rollout_count", schema.Required, 1, 0, false)
	if policy, ok := c.Object("repeat_policy", schema.Required); ok {
		m.Repeats, _ = policy.Int("num_repeats", schema.Required, 1, 0, false)
		m.Seeded, _ = policy.Bool("seeded", schema.Required)
		policy.End()
	}
	m.Recipe = digest(c, "resolved_recipe_sha256")
	m.MetricKeys = names(c, "metric_keys", 0)
	c.End()
	return m
}

// product tells whether the number of rollouts is that of tasks and repeats.
func product(m *Member) bool {
	wide := func(n integer.Int) *big.Int {
		b, _ := new(big.Int).SetString(n.String(), 10)
		return b
	}
	return new(big.Int).Mul(wide(m.Tasks), wide(m.Repeats)).Cmp(wide(m.Rollouts)) == 0
}

// names reads a list of distinct texts that are not blank, and sorts it.
func names(c *schema.Checker, field string, least int) []string {
	list, ok := c.Texts(field, least)
	if !ok {
		return nil
	}
	slices.Sort(list)
	if slices.ContainsFunc(list, blank) || len(slices.Compact(slices.Clone(list))) < len(list) {
		c.Fault(field, schema.ValueError)
	}
	return list
}

func digest(c *schema.Checker, field string) string {
	text, ok := c.Text(field, schema.Required)
	if !ok {
		return ""
	}
	text = strings.ToLower(text)
	if len(text) != 64 || strings.Trim(text, "0123456789abcdef") != "" {
		c.Fault(field, schema.ValueError)
	}
	return text
}

// blank tells whether nothing but white space of the reference's language is in a text.
func blank(s string) bool {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || 0x1C <= r && r <= 0x1F }) == ""
}

// SHA256 is the digest under which a status names its manifest.
func SHA256(text []byte) string { return store.Sum(text) }
