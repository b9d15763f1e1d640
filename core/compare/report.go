package compare

import (
	"math"

	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/value"
)

// Names of the files of a comparison.
const (
	ReportJSON     = "compare_report.json"
	ReportMarkdown = "compare_report.md"
)

// schema is the version of the JSON report's shape.
const schema = "1"

// A Run says which run a side is, for the report.
type Run struct {
	Label    string // name of its folder, or its stem
	Rollouts string // path of the rollouts file as it was given
	Metrics  string // path of the aggregate-metrics file, "" when the metrics were derived from the rows
	Agents   []string
}

// A Heading says what a report is about and where it comes from.
type Heading struct {
	Generated string // UTC, as 2006-01-02T15:04:05+00:00; "" where nobody knows the time
	Command   string
	Rules     string // version of the reference whose rules were followed
	Program   string // version of this program
	Baseline  Run
	Candidate Run
}

// JSON is the document of the report.
func (r *Report) JSON(h *Heading) []byte {
	comparisons := make([]value.Value, len(r.Comparisons))
	for i := range r.Comparisons {
		comparisons[i] = r.Comparisons[i].value()
	}
	skipped := []value.Member{}
	for _, s := range r.Skipped {
		skipped = append(skipped, value.M(s.Side, value.Texts(s.Agents)))
	}
	doc := value.Object(
		value.M("schema_version", value.Text(schema)),
		value.M("generated_at", value.TextOrNull(h.Generated)),
		value.M("nemo_gym_version", value.Text(h.Rules)),
		value.M("rollscope_version", value.Text(h.Program)),
		value.M("command", value.Text(h.Command)),
		value.M("baseline", h.Baseline.value("baseline")),
		value.M("candidates", value.List(h.Candidate.value("candidate"))),
		value.M("comparisons", value.List(comparisons...)),
		value.M("skipped_agents", value.Object(skipped...)),
		value.M("warnings", value.Texts(r.Warnings)),
	)
	return doc.AppendIndented(nil, false)
}

func (r *Run) value(role string) value.Value {
	return value.Object(
		value.M("role", value.Text(role)),
		value.M("index", value.Int(0)),
		value.M("rollouts_jsonl_fpath", value.Text(r.Rollouts)),
		value.M("aggregate_metrics_fpath", value.TextOrNull(r.Metrics)),
		value.M("label", value.Text(r.Label)),
		value.M("agent_names", value.Texts(r.Agents)),
	)
}

func (c *Comparison) value() value.Value {
	rows := make([]value.Value, len(c.Metrics))
	for i := range c.Metrics {
		rows[i] = c.Metrics[i].value()
	}
	var agents, tasks, repeats, flips []value.Value
	for i, e := range c.Candidates {
		agents = append(agents, value.Text(e.Label))
		tasks = append(tasks, value.Int(int64(e.Groups)))
		repeats = append(repeats, repeatCount(e))
		flips = append(flips, c.Flips[i].value(i))
	}
	return value.Object(
		value.M("baseline_agent", value.Text(c.Baseline.Label)),
		value.M("candidate_agents", value.List(agents...)),
		value.M("baseline_task_count", value.Int(int64(c.Baseline.Groups))),
		value.M("candidate_task_counts", value.List(tasks...)),
		value.M("baseline_repeat_count", repeatCount(c.Baseline)),
		value.M("candidate_repeat_counts", value.List(repeats...)),
		value.M("metrics", value.List(rows...)),
		value.M("flips", value.List(flips...)),
		value.M("notes", value.Texts(c.Notes)),
	)
}

func repeatCount(e *Entry) value.Value {
	if e.RepeatCount < 0 {
		return value.Null
	}
	return value.Int(int64(e.RepeatCount))
}

func (m *Metric) value() value.Value {
	candidates := make([]value.Value, len(m.Candidates))
	for i, c := range m.Candidates {
		candidates[i] = c.value(true)
	}
	return value.Object(
		value.M("metric", value.Text(m.Name)),
		value.M("is_key_metric", value.Bool(m.Key)),
		value.M("present_in", value.Texts(m.present())),
		value.M("baseline", m.Baseline.value(false)),
		value.M("candidates", value.List(candidates...)),
	)
}

func (s *Side) value(candidate bool) value.Value {
	if s == nil {
		return value.Null
	}
	list := []value.Member{
		value.M("value", s.Number.Value()),
		value.M("ci_low", s.Low.value()),
		value.M("ci_high", s.High.value()),
		value.M("se_across_repeats", s.SE.value()),
		value.M("mean_across_repeats", s.Mean.value()),
		value.M("std_err_across_runs", s.RunSE.value()),
	}
	if candidate {
		list = append(list,
			value.M("delta", s.Delta.value()),
			value.M("delta_pct", s.Percent.value()),
			value.M("delta_ci_low", s.DeltaLow.value()),
			value.M("delta_ci_high", s.DeltaHigh.value()),
		)
	}
	return value.Object(list...)
}

func (o Optional) value() value.Value {
	if !o.OK || math.IsNaN(o.X) || math.IsInf(o.X, 0) {
		return value.Null
	}
	return value.Float(o.X)
}

func (f *Flips) value(candidate int) value.Value {
	count := func(n int, there bool) value.Value {
		if !there {
			return value.Null
		}
		return value.Int(int64(n))
	}
	binary, any := f.Mode == Binary, f.Mode != Unavailable
	list := make([]value.Value, len(f.List))
	for i := range f.List {
		list[i] = f.List[i].value()
	}
	return value.Object(
		value.M("candidate_index", value.Int(int64(candidate))),
		value.M("mode", value.Text(string(f.Mode))),
		value.M("reason", value.TextOrNull(f.Reason)),
		value.M("field", value.Text("reward")),
		value.M("common_task_count", count(f.Common, true)),
		value.M("baseline_only_task_count", count(f.BaselineOnly, true)),
		value.M("candidate_only_task_count", count(f.CandidateOnly, true)),
		value.M("pass_to_fail_count", count(f.PassToFail, binary)),
		value.M("fail_to_pass_count", count(f.FailToPass, binary)),
		value.M("tied_count", count(f.Tied, binary)),
		value.M("unchanged_count", count(f.Unchanged, any)),
		value.M("net", count(f.Net(), binary)),
		value.M("flips", value.List(list...)),
	)
}

func (f *Flip) value() value.Value {
	return value.Object(
		value.M("task_index", indexValue(f.Task)),
		value.M("baseline_score", value.Float(f.Baseline)),
		value.M("candidate_score", value.Float(f.Candidate)),
		value.M("delta", value.Float(f.Delta)),
		value.M("direction", value.Text(string(f.Direction))),
		value.M("baseline_rewards", rewardsValue(f.BaselineRewards)),
		value.M("candidate_rewards", rewardsValue(f.CandidateRewards)),
	)
}

func indexValue(k rollout.Key) value.Value {
	if !k.IsInt() {
		return value.Text(k.String())
	}
	return value.Whole(wholeIndex(k))
}

func rewardsValue(list []metrics.Number) value.Value {
	if list == nil {
		return value.Null
	}
	values := make([]value.Value, len(list))
	for i, n := range list {
		values[i] = n.Value()
	}
	return value.List(values...)
}
