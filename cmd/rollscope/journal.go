package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/verify"
)

// What profile main does with a run that has a manifest or an attempt journal (spec health §16, M2).
const (
	journalSelected = "selected" // the results that decide about their rollouts are judged, the other rows left out
	journalRefuse   = "refuse"   // as the reference does
)

// errRecorded means that such a run is refused. It is an error of the configuration, not of the input.
var errRecorded = errors.New("a run with a manifest or an attempt journal is not judged row by row")

// refusal tells what to do instead.
func refusal(name, beside string) error {
	return fmt.Errorf("%s: %s stands beside it: %w; judge the merged output of an aggregation, or leave --journal refuse out", name, beside, errRecorded)
}

// parseJournal checks the flag.
func (j *judging) parseJournal(changed bool) error {
	switch {
	case j.journal != journalSelected && j.journal != journalRefuse:
		return usagef("--journal %s: want %s or %s", j.journal, journalSelected, journalRefuse)
	case changed && j.profile != "main":
		return usagef("--journal is for --profile main")
	}
	return nil
}

// A deciding set tells which lines of the inputs decide about their rollouts; an input without an entry is judged as it
// is.
type deciding map[int]map[int64]bool

// leaves tells whether a row is no part of the report.
func (p deciding) leaves(source int, line int64) bool {
	lines, projected := p[source]
	return projected && !lines[line]
}

// project finds the results that decide, in every run with a manifest or a journal.
func (h *host) project(ctx context.Context, list []*input) (deciding, error) {
	p := deciding{}
	for i, in := range list {
		beside := in.recorded()
		if beside == "" {
			continue
		}
		folder, err := listFolder(in.name)
		if err != nil {
			return nil, err
		}
		report, err := verify.Run(ctx, folder.files, verify.Options{Only: folder.only})
		folder.close()
		if err != nil {
			return nil, err
		}
		if len(report.Runs) != 1 || report.Runs[0].Index == nil {
			h.note("%s: %s stands beside it, and nothing tells which of its rows decide; its rows are judged as they are", in.name, beside)
			continue
		}
		run := report.Runs[0]
		lines := map[int64]bool{}
		run.Index.Selection(records.Success, func(_ int, a records.Attempt) {
			if a.File == records.Results {
				lines[a.Line] = true
			}
		})
		p[i] = lines
		doubt := ""
		if run.FirstError != "" {
			doubt = ", and stops at " + run.FirstError + " when it opens this one"
		}
		h.note("%s: %s stands beside it, so this is a projection: the results that decide about their rollouts are judged, %d of %s; the reference refuses such a run with profile main%s",
			in.name, beside, len(lines), amount(int(run.Accounts[records.Results].Rows), "row"), doubt)
	}
	return p, nil
}
