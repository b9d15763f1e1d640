package view

import "strings"

// A TabInfo is one tab of the bar, a value in a table.
type TabInfo struct {
	ID, Title, Key string // Key is the second key of its shortcut "g …"
	Text           string // what it answers
}

// Tabs lists the tabs in their order. One is shown when its evidence is there.
var Tabs = []TabInfo{
	{"overview", "Overview", "o", "is the run complete, healthy, well scored and fast"},
	{"rollouts", "Rollouts", "r", "every row with its identity, verdict and findings"},
	{"tasks", "Tasks", "t", "tasks and their repeats"},
	{"health", "Health", "h", "every check: where it fired and where it could not be judged"},
	{"coverage", "Coverage", "c", "what became of every rollout that was asked for"},
	{"scores", "Scores", "s", "rewards, pass@k, tasks, and what was left out"},
	{"calls", "Calls", "l", "every model call of the run"},
	{"performance", "Performance", "p", "latency, tokens, throughput, the slowest rollouts"},
	{"harness", "Harness", "a", "whether the harness leaves the evidence that training needs"},
	{"files", "Files", "f", "what was given, what was read, every line accounted for"},
	{"compare", "Compare", "m", "one run against another"},
}

// A Command is something a person can do by a key. The sheet behind "?", the palette and the key map of the page's
// script are all made from the same list.
type Command struct {
	Keys  []string // chords that do the same; parts of one are KeyboardEvent.key values joined by spaces: "g o"
	Run   string   // what the script does: the name of an action and, behind a space, what it is done to
	Title string
}

// Name is how the sheet writes the keys.
func (c Command) Name() string {
	names := make([]string, len(c.Keys))
	for i, chord := range c.Keys {
		parts := strings.Fields(chord)
		for n, part := range parts {
			if name, there := keyNames[part]; there {
				parts[n] = name
			}
		}
		names[i] = strings.Join(parts, " ")
	}
	return strings.Join(names, "  ")
}

// keyNames are the keys whose value is not what stands on them.
var keyNames = map[string]string{
	"ArrowDown": "↓", "ArrowUp": "↑", "PageDown": "PgDn", "PageUp": "PgUp", "Escape": "Esc", "Control+k": "Ctrl-K", "Control+f": "Ctrl-F",
}

// Commands lists what can be done by keys, in the order of the sheet.
func Commands() []Command {
	list := []Command{
		{[]string{"/"}, "filter", "go to the filter"},
		{[]string{"Control+k"}, "palette", "find a command by its name"},
		{[]string{"j", "ArrowDown"}, "row +1", "next row; in a transcript the next turn"},
		{[]string{"k", "ArrowUp"}, "row -1", "previous row or turn"},
		{[]string{"PageDown"}, "row +page", "a page of rows on"},
		{[]string{"PageUp"}, "row -page", "a page of rows back"},
		{[]string{"Home"}, "row first", "first row"},
		{[]string{"End"}, "row last", "last row"},
		{[]string{"Enter"}, "open", "open the row"},
		{[]string{"Escape"}, "back", "back: close what is open, leave the rollout"},
		{[]string{"["}, "follow previous", "previous rollout of the filter"},
		{[]string{"]"}, "follow next", "next rollout of the filter"},
		{[]string{"p"}, "part transcript", "transcript of the rollout"},
		{[]string{"o"}, "part tokens", "tokens of the rollout"},
		{[]string{"m"}, "part calls", "model calls of the rollout"},
		{[]string{"a"}, "part attempts", "records of the rollout"},
		{[]string{"r"}, "part raw", "raw JSON of the rollout"},
		{[]string{"t"}, "timeline", "open or close the timeline"},
		{[]string{"+", "="}, "zoom-in", "look closer at the timeline"},
		{[]string{"-"}, "zoom-out", "look at more of the timeline"},
		{[]string{"n"}, "next-finding", "next finding of the rollout"},
		{[]string{"N"}, "previous-finding", "previous finding of the rollout"},
		{[]string{"Control+f"}, "find", "search in what is shown: JSON, a transcript; else in all transcripts"},
		{[]string{"s"}, "search", "search in all transcripts"},
		{[]string{"."}, "next-hit", "next hit of the search in the rollout"},
		{[]string{","}, "previous-hit", "previous hit of the search in the rollout"},
		{[]string{"e"}, "note", "write a note on the rollout"},
		{[]string{"E"}, "notes", "all notes on what is open"},
		{[]string{"w"}, "views", "save what is shown as a view, or open a saved one"},
		{[]string{"v"}, "columns", "choose the columns of the table"},
	}
	for _, t := range Tabs {
		list = append(list, Command{[]string{"g " + t.Key}, "tab " + t.ID, t.Title + ": " + t.Text})
	}
	return append(list,
		Command{[]string{"l"}, "live", "follow files that grow, or stop following them"},
		Command{[]string{"c"}, "link", "copy a link to what is shown"},
		Command{[]string{"u"}, "take-back", "undo what was just replaced or removed"},
		Command{[]string{"O"}, "open-folder", "open another run folder"},
		Command{[]string{"F"}, "open-files", "open other rollouts files"},
		Command{[]string{"h"}, "share", "share what is open as one HTML file"},
		Command{[]string{"d"}, "theme", "switch between light and dark"},
		Command{[]string{"?"}, "keys", "this sheet"},
	)
}
