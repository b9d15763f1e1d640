package view

import (
	"errors"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/health"
)

// ErrSort means that rows cannot be sorted by a key.
var ErrSort = errors.New("rows cannot be sorted by this key")

// Search gives the ordinals of the judged rows that fit a filter, in the order of a sort: what the Rollouts tab
// shows for a State with this Filter and Sort. answers are those to the question of the filter, nil where it has none
// (see [Ask]). The error is that of the filter text or [ErrSort].
func Search(table *analysis.Table, report *health.Report, text, sorting string, answers *analysis.Answers) ([]int, error) {
	if key, _ := sortKey(State{Sort: sorting}); sorting != "" && !slices.Contains(SortKeys(), key) {
		return nil, ErrSort
	}
	c := &selection{table: table, report: report, rules: report.Rules()}
	c.ask = func(q *Question) *asked { return &asked{Question: q, answers: answers} }
	if q, err := Ask(text); err == nil && q != nil && (answers == nil || answers.Query() != q.Number()) {
		return nil, errors.New("the filter reads values inside rows, and these were not asked")
	}
	found := c.search(strings.TrimSpace(text), sorting)
	if found.err != nil {
		return nil, found.err
	}
	list := make([]int, found.len(c))
	for n := range list {
		list[n] = found.at(c, n)
	}
	return list, nil
}

// SortKeys lists the keys by which rows can be sorted; "-" in front of one turns the order.
func SortKeys() []string {
	var keys []string
	for _, c := range rolloutColumns {
		if c.rank != nil {
			keys = append(keys, c.Key)
		}
	}
	return keys
}
