package web

import (
	"fmt"

	"github.com/rollscope/rollscope/core/view"
)

// records counts the records of a heading.
func records(n int) string {
	if n == 1 {
		return "1 record"
	}
	return view.Group(n) + " records"
}

func box(g view.HarnessGraph) string { return fmt.Sprintf("-1 -1 %d %d", g.Width+2, g.Height+2) }

// curve leaves and reaches nodes level, so that lines between columns do not cross the texts.
func curve(e view.GraphEdge) string {
	middle := (e.X1 + e.X2) / 2
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", e.X1, e.Y1, middle, e.Y1, middle, e.Y2, e.X2, e.Y2)
}
