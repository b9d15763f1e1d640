package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/metrics"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/view"
)

// scoresCommand shows what a run has earned by the lenient reading, which refuses nothing.
func scoresCommand(h *host) *cobra.Command {
	var (
		out       printing
		threshold float64
		by        string
	)
	cmd := &cobra.Command{
		Use:   "scores PATH… [flags]",
		Short: "scores of whatever can be read, and what was left out",
		Long: `Show the scores of a run as the page does: every mean with the number of rollouts
it is made of, and what was left out of it and why. Nothing is refused: lines that
are no rows, rows without a reward, masked rows and second rows of one rollout are
counted and told. Failures and materialized inputs beside a file say which
rollouts there should be.

A task is in the slice always if all its measured rollouts reach the threshold,
never if none does, sometimes otherwise, and missing if nothing is measured.`,
		Example: `  rollscope metrics scores RUN_DIR
  rollscope metrics scores RUN_DIR --by task_source --threshold 0.5`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			options := metrics.ScoreOptions{}
			if cmd.Flags().Changed("threshold") {
				if math.IsNaN(threshold) {
					return usagef("--threshold: a number is needed")
				}
				options.Threshold = &threshold
			}
			fields := []string(nil)
			switch by {
			case "", "agent":
			case "task_source":
				options.By = metrics.BySource
			default:
				options.By, fields = metrics.ByField, []string{by}
			}
			inputs, err := openInputs(paths, inputOptions{})
			defer func() { closeInputs(inputs) }()
			if err != nil {
				return err
			}
			run, err := h.lenient(cmd.Context(), inputs, fields, &options)
			if err != nil {
				return err
			}
			if err := h.unchanged(inputs); err != nil {
				return err
			}
			s := run.Scores(options)
			document := func(w io.Writer) error {
				text, err := json.MarshalIndent(scoresDocument(s), "", "  ")
				if err == nil {
					_, err = w.Write(text)
				}
				return err
			}
			return h.print(&out, scoresSheets(s, run), document)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&out.json, "json", false, "print one JSON document")
	f.BoolVar(&out.csv, "csv", false, "print the tasks as CSV")
	f.BoolVar(&out.markdown, "markdown", false, "print the tables as Markdown")
	cmd.MarkFlagsMutuallyExclusive("json", "csv", "markdown")
	f.Float64Var(&threshold, "threshold", 1, "reward from which on a rollout passes")
	f.StringVar(&by, "by", "agent", "group by agent, task_source or another `field` of the rows")
	return cmd
}

// lenient reads rows and sidecars, whatever they are like.
func (h *host) lenient(ctx context.Context, inputs []*input, fields []string, o *metrics.ScoreOptions) (*metrics.Run, error) {
	run := metrics.NewRun(metrics.Options{Lenient: true})
	f := &rowFeed{lenient: true, mapper: metrics.Mapper{Fields: fields}}
	err := h.fed(ctx, inputs, f, func() error {
		for i, in := range inputs {
			if err := f.each(in, i, int64(run.Rows()), run.Add); err != nil {
				return err
			}
		}
		for _, side := range [...]struct {
			suffix string
			run    **metrics.Run
		}{{failuresSuffix, &o.Failures}, {inputsSuffix, &o.Inventory}} {
			for i, in := range inputs {
				found, err := sidecar(in, side.suffix)
				if err != nil {
					return err
				}
				if found == nil {
					continue
				}
				if *side.run == nil {
					*side.run = metrics.NewRun(metrics.Options{Lenient: true})
				}
				f.mapper.Fields = nil
				if side.suffix == failuresSuffix {
					f.mapper.Fields = metrics.FailureFields
				}
				err = f.each(found, i, int64((*side.run).Rows()), (*side.run).Add)
				found.file.Close()
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	return run, err
}

// leftOutText names what is in no mean.
func leftOutText(l metrics.LeftOut) string {
	var parts []string
	for _, one := range [...]struct {
		n    int
		text string
	}{
		{l.Unreadable, "unreadable"}, {l.Malformed, "malformed"}, {l.Masked, "masked"}, {l.Unscored, "without a number"},
		{l.Failed, "failed"}, {l.Omitted, "omitted"}, {l.Missing, "missing"},
	} {
		if one.n > 0 {
			parts = append(parts, view.Group(one.n)+" "+one.text)
		}
	}
	if l.Duplicates > 0 {
		parts = append(parts, amount(l.Duplicates, "second row")+" of a rollout")
	}
	if len(parts) == 0 {
		return "nothing was left out"
	}
	return "left out: " + strings.Join(parts, ", ")
}

func scoresSheets(s *metrics.Scores, run *metrics.Run) *sheets {
	out := &sheets{}
	all := &s.All
	head := sheet{title: "mean reward", intro: []string{
		fmt.Sprintf("%s over %s of %s rollouts", decimal(all.Mean, all.Measured > 0), view.Group(all.Measured), view.Group(all.Expected)),
		leftOutText(all.LeftOut),
	}}
	if all.Measured > 0 {
		head.intro = append(head.intro, fmt.Sprintf("mean of the task means %s over %s of %s", decimal(all.TaskMean, true), view.Group(all.Tasks-all.Slices[metrics.MissingTask]), amount(all.Tasks, "task")))
	}
	if all.Across.N > 1 {
		head.intro = append(head.intro, fmt.Sprintf("95 %% across %d repeats %s", all.Across.N, between(all.Across.Low, all.Across.High, all.Across.Interval)))
	}
	for row := range run.Rows() {
		if state := run.State(row); state != metrics.Readable {
			head.notes = append(head.notes, run.Where(row)+": "+state.String())
			if len(head.notes) == placesShown {
				break
			}
		}
	}
	out.add(head)
	groups := sheet{title: "by group", columns: []column{
		{title: "group"}, {title: "mean", right: true}, {title: "measured"}, {title: "std", right: true}, {title: "task mean", right: true}, {title: "95 % across repeats"},
		{title: "tasks", right: true}, {title: "always", right: true}, {title: "sometimes", right: true}, {title: "never", right: true}, {title: "missing", right: true},
		{title: "incomplete", right: true},
	}}
	for i := range s.Groups {
		g := &s.Groups[i]
		name := g.Name
		if !g.Named {
			name = view.Dash
		}
		groups.rows = append(groups.rows, []string{
			name, decimal(g.Mean, g.Measured > 0), fmt.Sprintf("%s of %s", view.Group(g.Measured), view.Group(g.Expected)), decimal(g.Std, g.Measured > 1),
			decimal(g.TaskMean, g.Measured > 0), between(g.Across.Low, g.Across.High, g.Across.Interval), view.Group(g.Tasks),
			view.Group(g.Slices[metrics.Always]), view.Group(g.Slices[metrics.Sometimes]), view.Group(g.Slices[metrics.Never]), view.Group(g.Slices[metrics.MissingTask]),
			view.Group(g.Incomplete),
		})
	}
	out.add(groups)
	pass := sheet{title: "pass@k in percent", columns: []column{
		{title: "k", right: true}, {title: "pass@k", right: true}, {title: "tasks"}, {title: "all tasks", right: true}, {title: "avg@k", right: true},
	}}
	measured := all.Tasks - all.Slices[metrics.MissingTask]
	for _, c := range all.Pass.Curve {
		pass.rows = append(pass.rows, []string{
			strconv.Itoa(c.K), decimal(c.Pass, c.Tasks > 0), fmt.Sprintf("%s of %s", view.Group(c.Tasks), view.Group(all.Tasks)),
			decimal(c.Pass, c.Tasks == all.Tasks && c.Tasks > 0), decimal(c.Avg, measured > 0),
		})
	}
	out.add(pass)
	tasks := sheet{title: "by task", columns: []column{
		{title: "task"}, {title: "group"}, {title: "mean", right: true}, {title: "measured"}, {title: "passed", right: true}, {title: "std", right: true}, {title: "slice"},
	}}
	exact := sheet{columns: []column{
		{title: "task"}, {title: "group"}, {title: "mean", right: true}, {title: "measured", right: true}, {title: "expected", right: true}, {title: "passed", right: true},
		{title: "std", right: true}, {title: "slice"}, {title: "incomplete"}, {title: "tokens_passed", right: true}, {title: "tokens_failed", right: true}, {title: "latency_ms", right: true},
	}}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		slice := t.Slice.String()
		incomplete := "no"
		if t.Incomplete {
			slice, incomplete = slice+", incomplete", "yes"
		}
		tasks.rows = append(tasks.rows, []string{
			keyText(t.Task), t.Group, decimal(t.Mean, t.Measured > 0), fmt.Sprintf("%s of %s", view.Group(t.Measured), view.Group(t.Expected)),
			view.Group(t.Passed), decimal(t.Std, t.Measured > 1), slice,
		})
		exact.rows = append(exact.rows, []string{
			keyText(t.Task), t.Group, plainDecimal(t.Mean, t.Measured > 0), strconv.Itoa(t.Measured), strconv.Itoa(t.Expected), strconv.Itoa(t.Passed),
			plainDecimal(t.Std, t.Measured > 1), t.Slice.String(), incomplete,
			plainDecimal(t.TokensPassed, true), plainDecimal(t.TokensFailed, true), plainDecimal(t.Latency, true),
		})
	}
	out.add(tasks)
	out.main = exact
	return out
}

// keyText writes a task so that a number and a text of the same digits differ.
func keyText(k rollout.Key) string {
	if k.IsInt() {
		return k.String()
	}
	return strconv.Quote(k.String())
}

// number is a JSON number that may be missing.
func number(x float64, there bool) *float64 {
	if !there || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

type scoreDocument struct {
	Group    *string  `json:"group,omitempty"`
	Mean     *float64 `json:"mean"`
	Measured int      `json:"measured"`
	Expected int      `json:"expected"`
	LeftOut  struct {
		Masked     int `json:"masked"`
		Unscored   int `json:"unscored"`
		Duplicates int `json:"duplicates"`
		Unreadable int `json:"unreadable"`
		Malformed  int `json:"malformed"`
		Failed     int `json:"failed"`
		Omitted    int `json:"omitted"`
		Missing    int `json:"missing"`
	} `json:"left_out"`
	Std      *float64       `json:"std"`
	TaskMean *float64       `json:"task_mean"`
	Low      *float64       `json:"ci_low_95_across_repeats"`
	High     *float64       `json:"ci_high_95_across_repeats"`
	Tasks    int            `json:"tasks"`
	Slices   map[string]int `json:"slices"`
	Lacking  int            `json:"incomplete"`
	Pass     []passDocument `json:"pass_at_k"`
}

type passDocument struct {
	K     int      `json:"k"`
	Tasks int      `json:"tasks"`
	Pass  *float64 `json:"pass"`
	Avg   *float64 `json:"avg"`
}

type taskDocument struct {
	Task     any      `json:"task_index"`
	Group    string   `json:"group"`
	Mean     *float64 `json:"mean"`
	Std      *float64 `json:"std"`
	Measured int      `json:"measured"`
	Expected int      `json:"expected"`
	Passed   int      `json:"passed"`
	Slice    string   `json:"slice"`
	Lacking  bool     `json:"incomplete"`
}

func scoreOf(s *metrics.Score, group *string) scoreDocument {
	d := scoreDocument{
		Group: group, Mean: number(s.Mean, s.Measured > 0), Measured: s.Measured, Expected: s.Expected, Std: number(s.Std, s.Measured > 1),
		TaskMean: number(s.TaskMean, s.Measured > 0), Low: number(s.Across.Low, s.Across.Interval), High: number(s.Across.High, s.Across.Interval),
		Tasks: s.Tasks, Slices: map[string]int{}, Lacking: s.Incomplete, Pass: []passDocument{},
	}
	l := s.LeftOut
	d.LeftOut.Masked, d.LeftOut.Unscored, d.LeftOut.Duplicates, d.LeftOut.Unreadable = l.Masked, l.Unscored, l.Duplicates, l.Unreadable
	d.LeftOut.Malformed, d.LeftOut.Failed, d.LeftOut.Omitted, d.LeftOut.Missing = l.Malformed, l.Failed, l.Omitted, l.Missing
	for slice, n := range s.Slices {
		d.Slices[metrics.Slice(slice).String()] = n
	}
	for _, c := range s.Pass.Curve {
		d.Pass = append(d.Pass, passDocument{c.K, c.Tasks, number(c.Pass, c.Tasks > 0), number(c.Avg, true)})
	}
	return d
}

func scoresDocument(s *metrics.Scores) any {
	groups, tasks := []scoreDocument{}, []taskDocument{}
	for i := range s.Groups {
		name := &s.Groups[i].Name
		groups = append(groups, scoreOf(&s.Groups[i], name))
	}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		var index any = t.Task.String()
		if t.Task.IsInt() {
			index = json.RawMessage(t.Task.String())
		}
		tasks = append(tasks, taskDocument{
			index, t.Group, number(t.Mean, t.Measured > 0), number(t.Std, t.Measured > 1), t.Measured, t.Expected, t.Passed, t.Slice.String(), t.Incomplete,
		})
	}
	return struct {
		Threshold float64         `json:"threshold"`
		All       scoreDocument   `json:"all"`
		Groups    []scoreDocument `json:"groups"`
		Tasks     []taskDocument  `json:"tasks"`
	}{s.Threshold, scoreOf(&s.All, nil), groups, tasks}
}
