package records

import (
	"math/big"
	"slices"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/value"
)

// A Coverage counts what became of the expected rollouts (spec records §8).
type Coverage struct {
	RunID            string // without meaning if the run was imported
	Imported         bool
	Expected         int64
	Successful       int64 // measured, masked and unscored together
	Measured         int64
	Masked           int64
	Unscored         int64
	Failed           int64
	Omitted          int64
	Unknown          int64
	NeverDispatched  int64
	Attempts         integer.Int
	CountedFailures  int64
	Exhausted        int64
	Settings         Settings
	IdentityVerified bool
}

// Coverage counts under some settings.
func (ix *Index) Coverage(s Settings) Coverage {
	c := Coverage{Expected: int64(ix.Len()), Settings: s, Imported: ix.manifest == nil}
	if m := ix.manifest; m != nil {
		c.RunID, c.IdentityVerified = m.RunID, !m.Imported && !m.Overridden
	}
	for i := range ix.Len() {
		r := ix.Rollout(i, s)
		switch r.Disposition {
		case Success:
			c.Successful++
			switch r.Measurement {
			case outcome.Measured:
				c.Measured++
			case outcome.Masked:
				c.Masked++
			default:
				c.Unscored++
			}
		case Failure:
			c.Failed++
		case Omission:
			c.Omitted++
		default:
			c.Unknown++
		}
		c.CountedFailures += r.CountedFailures
		if r.Exhausted {
			c.Exhausted++
		}
		if !r.HasLatest {
			c.NeverDispatched++
			continue
		}
		made := r.Latest.Add(integer.Of(1))
		if r.Reserved && r.Next.Cmp(made) > 0 {
			made = r.Next
		}
		c.Attempts = c.Attempts.Add(made)
	}
	return c
}

// Fraction is the share of expected rollouts that completed.
func (c *Coverage) Fraction() float64 {
	if c.Expected == 0 {
		return 1
	}
	return float64(c.Successful) / float64(c.Expected)
}

// Complete tells whether every expected rollout completed.
func (c *Coverage) Complete() bool { return c.Successful == c.Expected }

// Reconciled tells whether the fate of every expected rollout is known.
func (c *Coverage) Reconciled() bool { return c.Unknown == 0 }

// Document is the coverage as its file has it.
func (c *Coverage) Document() value.Value {
	run := value.Null
	if !c.Imported {
		run = value.Text(c.RunID)
	}
	return value.Object(
		value.M("schema_version", value.Int(store.Schema)),
		value.M("selection_policy", value.Text(store.Policy)),
		value.M("run_id", run),
		value.M("expected", value.Int(c.Expected)),
		value.M("successful", value.Int(c.Successful)),
		value.M("measured", value.Int(c.Measured)),
		value.M("masked", value.Int(c.Masked)),
		value.M("unscored", value.Int(c.Unscored)),
		value.M("failed", value.Int(c.Failed)),
		value.M("intentionally_omitted", value.Int(c.Omitted)),
		value.M("unknown", value.Int(c.Unknown)),
		value.M("never_dispatched", value.Int(c.NeverDispatched)),
		value.M("attempts", value.Whole(c.Attempts)),
		value.M("counted_failures", value.Int(c.CountedFailures)),
		value.M("attempts_exhausted", value.Int(c.Exhausted)),
		value.M("max_rollout_attempts", value.Int(c.Settings.MaxAttempts)),
		value.M("retry_terminal_timeouts", value.Bool(c.Settings.Override)),
		value.M("completion_fraction", value.Float(c.Fraction())),
		value.M("complete", value.Bool(c.Complete())),
		value.M("reconciled", value.Bool(c.Reconciled())),
		value.M("identity_verified", value.Bool(c.IdentityVerified)),
	)
}

// File is the text of a coverage file, as a run writes it before its end.
func (c *Coverage) File() []byte { return append(c.Document().AppendIndented(nil, true), '\n') }

// reporting lists the members that only the last writing of a run adds.
var reporting = []string{"scored", "failures_counted_as_zero", "imputed"}

// A Zeros says what could be scored as zero.
type Zeros struct {
	ByClass   map[string]int64 // failures by class; a class that is no text stands as its JSON
	Imputable int64            // rollouts of unknown fate that name an agent or a server
}

// Zeros counts what could be scored as zero.
func (ix *Index) Zeros() Zeros {
	z := Zeros{ByClass: map[string]int64{}}
	ix.ZeroCandidates(func(_ int, a Attempt) { z.ByClass[ClassName(a.Class)]++ })
	for i := range int32(ix.Len()) {
		if d, _ := ix.disposition(i); d == Unknown && ix.rollouts.at(i).routable {
			z.Imputable++
		}
	}
	return z
}

// ClassName is the name under which a class is counted: its text, or its JSON if it is none.
func ClassName(class string) string {
	if class == "" {
		return "null"
	}
	if text, ok := parsed([]byte(class)).Text(); ok {
		return text
	}
	return class
}

// A SavedCoverage is a coverage file.
type SavedCoverage struct {
	Path      string
	Document  value.Value // absent if the text is no JSON object
	Supported bool        // format and policy are known
}

// ReadCoverage reads the text of a coverage file.
func ReadCoverage(path string, text []byte) *SavedCoverage {
	s := &SavedCoverage{Path: path}
	v, err := value.Strict(text)
	if err != nil || !v.IsObject() {
		return s
	}
	s.Document = v
	s.Supported = value.Equal(v.Get("schema_version"), value.Int(store.Schema)) && v.Get("selection_policy").Is(store.Policy)
	return s
}

// Settings are those of the saved file, as far as it has them.
func (s *SavedCoverage) Settings() Settings {
	settings := Settings{MaxAttempts: DefaultMaxAttempts}
	if s == nil {
		return settings
	}
	if n, ok := s.Document.Get("max_rollout_attempts").Int64(); ok && n >= 1 {
		settings.MaxAttempts = n
	}
	settings.Override, _ = s.Document.Get("retry_terminal_timeouts").Truth()
	return settings
}

// A Comparison says how a saved coverage was compared.
type Comparison string

// The comparisons.
const (
	Unreadable  Comparison = "unreadable"
	Unsupported Comparison = "unsupported"
	NoIndex     Comparison = "no_index"
	Foreign     Comparison = "foreign"
	Unreliable  Comparison = "unreliable"
	Match       Comparison = "match"
	Stale       Comparison = "stale"
	Mismatch    Comparison = "mismatch"
)

// A Difference is a value that a saved file has otherwise than the files give it.
type Difference struct {
	Field          string
	Saved, Derived value.Value
}

// A CoverageCheck is the result of holding a saved coverage against the files.
type CoverageCheck struct {
	Comparison  Comparison
	Differences []Difference
	Extra       []string // members nobody knows, sorted
	Findings    []finding.Finding
}

// Compare holds a saved coverage against an index, which may be nil. reliable tells whether all rows could be taken
// into the index (spec records §9, run-commands §7).
func (s *SavedCoverage) Compare(run string, ix *Index, reliable bool) CoverageCheck {
	c := CoverageCheck{Differences: []Difference{}, Extra: s.extra()}
	found := func(id string, values ...value.Member) {
		c.Findings = append(c.Findings, finding.New(id, run, s.Path, values...))
	}
	doc := s.Document
	switch {
	case !doc.Exists():
		c.Comparison = Unreadable
		found(finding.CoverageUnreadable)
		return c
	case !s.Supported:
		c.Comparison = Unsupported
		found(finding.CoverageUnsupported, value.M("schema_version", doc.Get("schema_version").OrNull()), value.M("selection_policy", doc.Get("selection_policy").OrNull()))
		return c
	case ix == nil:
		c.Comparison = NoIndex
	case ix.manifest != nil && !doc.Get("run_id").Is(ix.manifest.RunID):
		c.Comparison = Foreign
		found(finding.CoverageForeign, value.M("saved", doc.Get("run_id").OrNull()), value.M("expected", value.Text(ix.manifest.RunID)))
	case !reliable:
		c.Comparison = Unreliable
	default:
		s.compare(ix, &c, found)
	}
	s.selfCheck(found)
	return c
}

func (s *SavedCoverage) extra() []string {
	known := reporting
	for _, m := range new(Coverage).Document().Members() {
		known = append(known, m.Key)
	}
	extra := []string{}
	for _, m := range s.Document.Members() {
		if !slices.Contains(known, m.Key) {
			extra = append(extra, m.Key)
		}
	}
	slices.Sort(extra)
	return extra
}

func (s *SavedCoverage) compare(ix *Index, c *CoverageCheck, found func(string, ...value.Member)) {
	doc := s.Document
	derived := ix.Coverage(s.Settings())
	fields := []string{}
	for _, m := range derived.Document().Members() {
		saved := doc.Get(m.Key)
		if !saved.Exists() || m.Key == "run_id" && derived.Imported || value.Equal(saved, m.Value) {
			continue
		}
		c.Differences = append(c.Differences, Difference{m.Key, saved, m.Value})
		fields = append(fields, m.Key)
	}
	switch {
	case len(fields) == 0:
		c.Comparison = Match
		found(finding.CoverageMatch)
	case !doc.Get("scored").Exists():
		c.Comparison = Stale
		found(finding.CoverageStale, value.M("fields", value.Texts(fields)))
	default:
		c.Comparison = Mismatch
		attempts, known := doc.Get("attempts").Whole()
		found(finding.CoverageMismatch, value.M("fields", value.Texts(fields)), value.M("later_attempts", value.Bool(known && derived.Attempts.Cmp(attempts) > 0)))
	}
	zeros := ix.Zeros()
	if imputed, ok := doc.Get("imputed").Whole(); ok && imputed.Sign() != 0 && imputed.Cmp(integer.Of(zeros.Imputable)) != 0 {
		found(finding.CoverageImputed, value.M("imputed", value.Whole(imputed)), value.M("candidates", value.Int(zeros.Imputable)))
	}
	if counted, ok := doc.Get("failures_counted_as_zero").Whole(); ok && !zeros.reachable(counted) {
		found(finding.CoverageCountedZero, value.M("failures_counted_as_zero", value.Whole(counted)), value.M("by_class", finding.Counts(zeros.ByClass)))
	}
}

// reachable tells whether n is the sum of whole classes.
func (z *Zeros) reachable(n integer.Int) bool {
	total := int64(0)
	for _, count := range z.ByClass {
		total += count
	}
	want, ok := n.Int64()
	if !ok || want < 0 || want > total {
		return false
	}
	times := map[int64]int64{} // how many classes have a count
	for _, count := range z.ByClass {
		times[count]++
	}
	sums := big.NewInt(1) // bit k is set if k is such a sum
	for count, left := range times {
		// Any number of classes up to left is a sum of these parts, so that many equal counts cost few steps.
		for part := int64(1); left > 0; part *= 2 {
			part = min(part, left)
			left -= part
			sums.Or(sums, new(big.Int).Lsh(sums, uint(part*count)))
		}
	}
	return sums.Bit(int(want)) == 1
}

// selfCheck finds numbers of a saved coverage that must agree and do not.
func (s *SavedCoverage) selfCheck(found func(string, ...value.Member)) {
	all := true
	number := func(name string) integer.Int {
		v := s.Document.Get(name)
		n, ok := v.Whole()
		all = all && ok
		return n
	}
	sum := func(names ...string) integer.Int {
		var n integer.Int
		for _, name := range names {
			n = n.Add(number(name))
		}
		return n
	}
	identities := []string{}
	check := func(name string, broken func() bool) {
		all = true
		if b := broken(); b && all {
			identities = append(identities, name)
		}
	}
	check("successful", func() bool { return number("successful").Cmp(sum("measured", "masked", "unscored")) != 0 })
	check("expected", func() bool {
		return number("expected").Cmp(sum("successful", "failed", "intentionally_omitted", "unknown")) != 0
	})
	check("never_dispatched", func() bool { return number("never_dispatched").Cmp(number("unknown")) > 0 })
	check("complete", func() bool {
		complete, ok := s.Document.Get("complete").Truth()
		reconciled, also := s.Document.Get("reconciled").Truth()
		return ok && also && complete && !reconciled
	})
	if len(identities) > 0 {
		found(finding.CoverageInconsistent, value.M("identities", value.Texts(identities)))
	}
	if s.Document.Get("scored").Kind() != jsonscan.Int {
		return
	}
	all = true
	scored := number("scored")
	parts := sum("successful", "failures_counted_as_zero", "imputed").Add(negative(number("unscored")))
	if all && scored.Cmp(parts) != 0 {
		found(finding.CoverageScoredSum, value.M("scored", value.Whole(scored)), value.M("sum", value.Whole(parts)))
	}
}
