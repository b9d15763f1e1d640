package harness

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/health/check"
)

// ErrExpectation means that a scenario expects what cannot be.
var ErrExpectation = errors.New("no such expectation")

// Expectations say by the id of a health check which verdicts a scenario allows. A check that is not named is expected to
// be healthy.
type Expectations map[string][]health.Verdict

// An ObservedHealth is what the health checks say about one rollout.
type ObservedHealth struct {
	Covered    check.Set // the checks that were asked and not ignored
	Fired      check.Set
	Unobserved check.Set
}

// HealthOf tells what a health report says about its row i.
func HealthOf(r *health.Report, i int) ObservedHealth {
	return ObservedHealth{Covered: check.Every &^ r.Rules().Ignored(), Fired: r.Fired(i), Unobserved: r.Missing(i)}
}

func (o ObservedHealth) verdict(position int) (v health.Verdict, ok bool) {
	switch {
	case !o.Covered.Has(position):
		return 0, false
	case o.Unobserved.Has(position):
		return health.Unobserved, true
	case o.Fired.Has(position):
		return health.Unhealthy, true
	}
	return health.Healthy, true
}

// Expect holds the health of rollouts against what a scenario expects (§11.3). output is the folder of the health
// reports. A row that passes confirms the expectation and says nothing good about a rollout. The error wraps
// [ErrExpectation].
func Expect(rollouts []ObservedHealth, e Expectations, s Scope, output string) (Rows, error) {
	ids := make([]string, 0, len(e))
	for id := range e {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if c, ok := check.ByID(id); !ok || c.Scope != check.Rollout {
			return nil, fmt.Errorf("%s is no health check of a rollout: %w", id, ErrExpectation)
		}
		if len(e[id]) == 0 {
			return nil, fmt.Errorf("%s: nothing is expected: %w", id, ErrExpectation)
		}
		for _, v := range e[id] {
			if v > health.Unobserved {
				return nil, fmt.Errorf("%s: %s: %w", id, v, ErrExpectation)
			}
		}
	}
	rows := Rows{}
	for position, c := range check.All() {
		if c.Scope != check.Rollout {
			continue
		}
		expected, ok := e[c.ID]
		if !ok {
			expected = []health.Verdict{health.Healthy}
		}
		applies := !s.NoSteps || !readsTurns(c)
		row := Row{ID: "health." + c.ID, Kind: Health}
		verdicts := output + "/" + health.VerdictsFile
		if len(rollouts) == 0 {
			row.Locations = []string{verdicts}
			if err := rows.run(row, nil, applies, false, nil); err != nil {
				return nil, err
			}
		}
		for i, o := range rollouts {
			row.Locations = []string{fmt.Sprintf("%s:%d", verdicts, i+1)}
			observed, known := o.verdict(position)
			err := rows.evaluate(row, applies, known, slices.Contains(expected, observed), "expected "+words(expected)+", observed "+observed.String())
			if err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// evaluate records one more evaluation of a row.
func (r *Rows) evaluate(row Row, applies, available, ok bool, reason string) error {
	return r.run(row, nil, applies, available, func() (bool, string) { return ok, reason })
}

func words(list []health.Verdict) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = v.String()
	}
	return strings.Join(texts, " or ")
}

// readsTurns tells whether a health check looks at the turns of the agent.
func readsTurns(c *check.Check) bool {
	return slices.ContainsFunc(c.Reads, func(path string) bool { return strings.HasPrefix(path, "ng_trajectory.turns") })
}

// A Preset is what a known kind of scenario expects.
type Preset struct {
	Name         string
	Expectations Expectations
	NoSteps      bool
}

// Presets lists the scenarios whose expectations are known.
func Presets() []Preset {
	uncounted := Expectations{
		"model_call_missing_token_counts": {health.Unhealthy},
		"rollout_token_count_mismatch":    {health.Unobserved},
	}
	terminal := Expectations{"rollout_ended_on_failed_model_call": {health.Unhealthy}}
	for id, v := range uncounted {
		terminal[id] = v
	}
	return []Preset{
		{Name: "missing_provider_usage", Expectations: uncounted},
		{Name: "http_errors", Expectations: uncounted},
		{Name: "terminal_model_error", Expectations: terminal, NoSteps: true},
	}
}

// ScenarioRows are the rows of one scenario.
type ScenarioRows struct {
	Name string
	Rows Rows
}

// ScenarioTable is the table of one harness in Markdown: checks against scenarios, by kind (§11.4).
func ScenarioTable(name string, scenarios []ScenarioRows) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n| Check |", name)
	for _, s := range scenarios {
		fmt.Fprintf(&b, " %s |", s.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(scenarios)) + "\n")
	var ids []string
	kindOf := map[string]Kind{}
	for _, s := range scenarios {
		for i := range s.Rows {
			row := &s.Rows[i]
			if _, ok := kindOf[row.ID]; !ok {
				ids = append(ids, row.ID)
				kindOf[row.ID] = row.Kind
			}
		}
	}
	line := func(head string, cell func(ScenarioRows) string) {
		fmt.Fprintf(&b, "| %s |", head)
		for _, s := range scenarios {
			fmt.Fprintf(&b, " %s |", cell(s))
		}
		b.WriteByte('\n')
	}
	if len(ids) == 0 {
		line("", func(ScenarioRows) string { return Fail.Mark() })
	}
	for kind := range kinds {
		titled := false
		for _, id := range ids {
			if kindOf[id] != kind {
				continue
			}
			if !titled {
				titled = true
				title := kind.String()
				line("**"+strings.ToUpper(title[:1])+title[1:]+"**", func(ScenarioRows) string { return "" })
			}
			line("`"+id+"`", func(s ScenarioRows) string {
				if row := s.Rows.Find(id); row != nil {
					return row.Status.Mark()
				}
				return Fail.Mark()
			})
		}
	}
	return b.String()
}

// Mark gives the status as a sign.
func (s Status) Mark() string { return [statuses]string{"—", "✓", "✗"}[s] }
