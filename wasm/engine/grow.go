package engine

import (
	"encoding/json"

	"github.com/rollscope/rollscope/core/view"
)

// grow does what the page asks while it follows files: begin a step to what has become of them, compare them anew, go
// over to it.
func (d *desk) grow(r *request) (answer []byte, needs bool, err error) {
	switch r.Op {
	case "grow":
		tasks, anew, err := d.Grow(r.Changes, r.Files)
		if err != nil {
			return nil, false, err
		}
		answer, err = json.Marshal(map[string]any{"scan": askTasks(tasks), "anew": append([]int{}, anew...)})
		return answer, false, err
	case "still":
		d.Still()
		return []byte("{}"), false, nil
	case "grown":
		needs, done, err := d.Grown()
		if err != nil {
			return nil, false, err
		}
		if len(needs) > 0 {
			return d.need(needs)
		}
		answer, err = json.Marshal(map[string]bool{"done": done})
		return answer, false, err
	case "where":
		state, _ := d.Read(r.Fragment, r.Host)
		answer, err = json.Marshal(map[string]int{"at": d.Where(state, r.Text)})
		return answer, false, err
	}
	state, _ := view.Decode(r.Fragment)
	now, rows, err := d.Step(state)
	if err != nil {
		return nil, false, err
	}
	d.fresh = true // what was unpacked may be of a file that is another one now
	reply := struct {
		Rows     int64  `json:"rows"`
		Fragment string `json:"fragment"` // the State with the names that files have now, "" where they are the same
		Sources  []int  `json:"sources"`  // the file of each
	}{Rows: rows, Sources: d.Sources()}
	if text := now.Encode(); text != state.Encode() {
		reply.Fragment = text
	}
	answer, err = json.Marshal(reply)
	return answer, false, err
}

// An askTask is a range that the page shall scan.
type askTask struct {
	Source int   `json:"source"`
	File   int   `json:"file"`
	From   int64 `json:"from"`
	To     int64 `json:"to"`
	Packed bool  `json:"packed"`
}

func askTasks(tasks []view.AskTask) []askTask {
	list := make([]askTask, len(tasks))
	for i, t := range tasks {
		list[i] = askTask{t.Source, t.File, t.From, t.To, t.Packed}
	}
	return list
}
