package view

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
	{"files", "Files", "f", "what was given, what was read, every line accounted for"},
}

// A Command is something a person can do by a key.
type Command struct{ Keys, Title string }

// Commands lists the keys; the sheet behind "?" and the documentation are printed from it.
func Commands() []Command {
	list := []Command{
		{"/", "go to the filter"},
		{"j k", "next and previous row"},
		{"Enter", "open the row"},
		{"Esc", "back"},
		{"[ ]", "previous and next rollout of the filter"},
	}
	for _, t := range Tabs {
		list = append(list, Command{"g " + t.Key, t.Title + ": " + t.Text})
	}
	return append(list,
		Command{"p", "transcript of the rollout"},
		Command{"r", "raw JSON of the rollout"},
		Command{"c", "copy a link to what is shown"},
		Command{"d", "switch between light and dark"},
		Command{"?", "this sheet"},
	)
}
