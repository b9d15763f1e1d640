package view

// A Page is what one State shows. Every field is ready to be written as text.
type Page struct {
	Phase    Phase
	Title    string // of the document
	Brand    string
	Version  string
	Theme    string // "", light or dark
	Lock     Lock
	Runs     []RunChoice
	Tabs     []Tab
	Search   *Tab // the way to the search in all transcripts, nil while there are none
	Filter   FilterBar
	Progress *Progress // while files are read
	Alerts   []Alert
	Stats    []Stat // numbers of every tab, for scripts
	Foot     []Text // facts at the left of the foot
	Sight    *Sight // which rows are in sight, in front of Foot
	Chooser  *Chooser
	Links    []Link // downloads and copies at its right
	Follow   string // whether files are followed: "" where they cannot be, off or on
	Target   string // id of the element that the link names, to be brought into sight

	// Exactly one of these is set.
	Landing  *Landing
	Overview *Overview
	Rollouts *Rollouts
	Tasks    *Tasks
	Health   *Health
	Files    *Files
	Rollout  *Rollout
	Missing  *Missing

	Coverage    *Coverage
	Scores      *Scores
	Calls       *Calls
	Performance *Performance
	Harness     *Harness
	Compare     *Compare
	Searched    *Searched
}

// A Phase is the page's data-state.
type Phase string

// The phases of a page.
const (
	Starting Phase = "starting"
	Idle     Phase = "idle"
	Scanning Phase = "scanning"
	Ready    Phase = "ready"
	Failed   Phase = "failed"
)

// A Text is a short text with what a pointer or a screen reader adds to it.
type Text struct {
	Text  string
	Title string // full value or reason; may be empty
	Muted bool
	Mono  bool
	Mark  Mark   // shape in front of the text
	Href  string // makes it a link
}

// A Mark is a shape with a meaning and a word of its own: shape and word always go together.
type Mark string

// The marks. The value is the CSS class and the name in the table of shapes.
const (
	NoMark         Mark = ""
	MarkHealthy    Mark = "healthy"
	MarkUnhealthy  Mark = "unhealthy"
	MarkUnobserved Mark = "unobserved"
	MarkMasked     Mark = "masked"
	MarkUnscored   Mark = "unscored"
	MarkOmitted    Mark = "omitted"
	MarkFailed     Mark = "failed"
	MarkUnknown    Mark = "unknown"
	MarkMeasured   Mark = "measured"
	MarkNote       Mark = "note"
)

// A Stat is one number under a stable dotted name. Value is exact: an int or a text as it is, a float as
// its shortest form, "" when missing.
type Stat struct {
	Name, Value string
	Run         string // set when runs are shown apart
}

// A Link is an action at the foot of a page. Download names the file it saves, Copy what it copies; with Table set,
// that is the whole of a table, which [Desk.Export] makes.
type Link struct {
	Text     string
	Href     string
	Download string // file name; the engine makes the content
	Copy     string
	Table    string // id of the table that is copied or saved
}

// A Sight tells which rows of a table are in sight. The script keeps it up to date.
type Sight struct {
	Table string
	Total int
	Text  string // as far as is known before there is a window
}

// A Lock says what the page can send, and why nothing leaves.
type Lock struct {
	Text  string
	Mode  string
	Lines []string // the proof: policy in force, requests since load, what was read
}

// A RunChoice is one entry of the run switcher.
type RunChoice struct {
	Name    string
	Detail  string
	Href    string
	Current bool
}

// A Tab is one tab of the bar.
type Tab struct {
	ID, Title, Href string
	Current         bool
	Key             string // second key of the shortcut "g …"
}

// A FilterBar is the row under the bar.
type FilterBar struct {
	Text    string
	Chips   []Chip
	Error   string // why the text is not used
	ErrorAt int    // character it begins at
	Fix     Link   // leads to the text that was probably meant; may be empty
	Shown   int
	Total   int
	Count   string // "312 of 20,000"
	Unit    string // "rollouts", "rollouts read so far"
	Hidden  bool
}

// A Chip is one part of the filter; Remove is the link without it.
type Chip struct{ Text, Remove string }

// Progress says how far reading is.
type Progress struct {
	Name      string
	Bytes     Text // "1,344,041,340 of 3,202,208,307 bytes"
	Rows      Text
	Rate      Text
	Left      Text
	Percent   int
	Note      string
	Cancelled bool
}

// An Alert is a message about input that could not be used as it is.
type Alert struct {
	Code  string // one of the codes of the data-* contract
	Text  string
	Place Text   // file, line, byte; may be empty
	Help  string // what can be done
	Count int    // how many of its kind this stands for, at least 1
}

// A Landing is the page before any file is there.
type Landing struct {
	Heading, Lead, Privacy string
	Loading                string // while the reader loads
	Understood             []Pair
	Note                   string
}

// A Pair is a name with its text.
type Pair struct{ Name, Text string }

// A Missing page stands where a link names files that are not there yet.
type Missing struct {
	Heading string
	Lines   []Text // what a link holds and what happens next
	Table   Table
	Go      Link   // goes on without what is missing
	Shows   []Text // what the link will show
}

// A Fact is a labelled value of a summary strip or of the facts column.
type Fact struct {
	Label string
	Value Text
	Note  Text   // denominator or addition, muted
	Stat  string // dotted name, may be empty
	Exact string // its data-value
}

// A Share is one part of a whole: a verdict with its count.
type Share struct {
	Mark    Mark
	Word    string
	Count   int
	Text    string  // count with separators
	Percent string  // "6.975 %", of all
	Part    float64 // 0 … 1
	Href    string  // filters to it
	Stat    string
}

// A Table is the one component for rows: a window into Total of them.
type Table struct {
	ID       string // data-table
	Caption  string // for screen readers
	Columns  []Column
	Total    int
	From     int // ordinal of Rows[0] in the table
	Rows     []Row
	Height   int    // of a row in CSS pixels
	Empty    string // what to say when Total is 0
	Note     string // beside or under the rows: what they are out of, how they are ranked
	Window   bool   // rows are asked for as they come into sight
	Sortable bool
	Movable  bool   // columns can be resized and moved, see [Chooser]
	Links    []Link // copies and downloads, where the foot of the page has none
}

// A Column is the head of a table column.
type Column struct {
	Key, Title string
	Unit       string
	Right      bool // numbers
	Mono       bool
	Bars       bool      // its cells draw Cell.Bar even when it is 0
	Grow       bool      // takes the room that is left
	Width      int       // CSS pixels, 0 for its content
	Chars      int       // of the longest value, where it is known
	Set        bool      // the width is a person's choice
	Href       string    // sorts by it
	Sorted     int       // 1 ascending, −1 descending
	Grid       *GridHead // the cells are drawn by the script; their texts are for those who do not see it
	Help       string
}

// A Row is one row of a table.
type Row struct {
	ID       string // stable within the table
	Index    int    // ordinal in the table
	Rollout  string // "<source>:<line>" for data-rollout
	Finding  string // check id for data-finding
	Href     string
	Selected bool
	Cells    []Cell
	Open     *Detail // shown under the row
}

// A Cell is one value of a row.
type Cell struct {
	Text  Text
	Extra Text    // muted addition behind the text: "of 19,612", "+1"
	Bar   float64 // 0 … 1 draws a bar; 0 only in a column with Bars, negative never
	Tone  string  // class of the bar: "", unhealthy …
	Parts []Share // draws a stacked bar
	Boxes []Box   // values side by side, such as the rewards of repeats
	Hits  []Hit   // places of a search in Text
	Range *Range  // draws a value with its interval
	Stat  string
	Note  string // first words of the person's note on what the row is about
	// Current marks the cell whose details are shown elsewhere on the page.
	Current bool
	Exact   string
}

// A Detail explains an open row.
type Detail struct {
	Text   string
	Notes  []string
	Tables []Table
	Links  []Link
}

// Health is the Health tab.
type Health struct {
	Judged  string // "verdict of 19,612 judged rollouts"
	Shares  []Share
	Facts   []Fact
	Checks  Table
	Refused *Alert // why there is no report
	Options HealthOptions
	Partial string // note while reading: what is not known yet
}

// HealthOptions are the controls that reduce again without a new scan.
type HealthOptions struct {
	Profiles []Choice
	Ignored  []Choice // every check, ignored or not
	Unknown  string   // error about unknown ids
}

// A Choice is one value of a control.
type Choice struct {
	Value, Title, Help string
	Href               string
	On                 bool
}

// Rollouts is the Rollouts tab.
type Rollouts struct {
	Facts  []Fact
	Charts []Chart
	Table  Table
}

// Files is the Files tab.
type Files struct {
	Facts   []Fact
	Read    Table // rollout files with their accounting
	Others  Table // everything else with its kind
	Refused Table // unreadable lines: place, reason, bytes as text
	Order   []FileOrder

	Note             string // why the files could not be held against each other
	Said             Table  // what the files say about each other, by id
	Saying           Table  // the same one by one
	Batch            Table  // agents of a batch
	BatchDifferences Table
	Line             *Lined // a line that somebody wants to see
}

// FileOrder is one entry of the list that can be reordered.
type FileOrder struct {
	Name           string
	Up, Down, Drop string // links; "" where there is nothing to do
	Dropped        bool
}

// Overview is the first tab.
type Overview struct {
	Panels []Panel
	Eyes   Table
	Note   string
}

// A Panel is one of the four of the Overview.
type Panel struct {
	Title, Href, Link string
	Number            Text
	Of                string
	Shares            []Share
	Charts            []Chart
	Table             *Table
	Lines             []Line
}

// A Line is a finding of a panel with its count at the right.
type Line struct {
	Mark  Mark
	Text  string
	Right string
	Href  string
}

// Tasks is the Tasks tab.
type Tasks struct {
	Facts  []Fact
	Charts []Chart
	Grid   Grid
	Table  Table
}

// A Grid is drawn on a canvas: tasks × repeats.
type Grid struct {
	Tasks, Repeats int
	Caption        string
}

// A Chart is a small chart of counted bins or of a line.
type Chart struct {
	ID, Title string
	Caption   string
	Note      string // what is not in the chart
	Kind      string // bars, strip, line
	Bins      []Bin
	Max       float64
	Plot      *Plot // what is drawn in the place of bins, which are then its table
}

// A Bin is one mark of a chart.
type Bin struct {
	Label string // under the mark
	Name  string // in full, where the label is short
	Value float64
	Text  string
	Href  string // filters to it
	Tone  string
}

// Rollout is the page of one rollout.
type Rollout struct {
	Back      Link
	Name      string // "880-6"
	TaskName  string
	Note      *NoteField // nil where there is no row
	Parts     []Tab
	Place     string // "5 of 74"
	Prev      string
	Next      string
	Facts     []FactGroup
	Findings  []FindingView
	Found     int // how many findings there are
	Unjudged  []UnjudgedView
	Notices   []Alert
	Raw       *Raw
	Hits      *HitBar // a search in all transcripts, here
	Calls     *CallsPart
	Attempts  *AttemptsPart
	Tokens    *TokensPart
	Turns     []TurnMark
	Blocks    []Block
	BlockNote string
	Tree      []Branch // invocations, where there are several
	Timeline  *TimelineView
	Links     []Link // downloads
	Target    string // id of the element that the State means

	MoreFindings string // which of very many are listed
}

// A Branch is an invocation in the tree of agents.
type Branch struct {
	Depth   int
	Name    string
	Note    string // turns, calls, time
	Href    string
	Mark    Mark
	Current bool
}

// A FactGroup is a titled part of the facts column.
type FactGroup struct {
	Title string
	Note  string
	Facts []Fact
	Boxes []Box // values side by side: the repeats of a task
}

// A Box is a value among its like: the repeat of a task.
type Box struct {
	Value   Text
	Solved  bool // reward 1, or what passes
	Current bool
}

// A Range is a value with its interval on the common scale of a column; everything is between 0 and 1.
type Range struct {
	At, Low, High float64
	Interval      bool
	Mark          float64 // a place of the scale that all rows share, such as zero; negative for none
}

// A FindingView is a finding at its place.
type FindingView struct {
	Check    string
	Sentence string
	Where    Text // "turn 6", links to the place
	Detail   []Pair
	Target   string // id of the element it stands at
	JSON     string // link to its place in the JSON
}

// An UnjudgedView is a check that could not be judged on this row.
type UnjudgedView struct{ Check, Reason string }

// A TurnMark is one entry of the turn rail.
type TurnMark struct {
	No      int
	Href    string
	Mark    Mark
	Current bool
}

// A Block is one part of a transcript.
type Block struct {
	ID       string
	Kind     string // turn, chunk, prompt, message, input, reasoning, call, output, modelcall, image, raw, finding, note
	Turn     int    // number of the turn, for kind turn
	Title    string
	Name     string // behind the title in monospace: the tool that is called
	Note     string
	Text     string
	Mono     bool
	Hits     []Hit  // places of a search in Text
	Before   int    // characters left out in front of Text
	Folded   int    // characters left out behind it
	Hidden   int    // places of the search in what is left out
	Unfold   string // link that shows them
	Image    string // data URL of an image that may be shown
	Mark     Mark
	Current  bool   // a link names it
	Stands   bool   // the hit that the page stands at is in it, wherever
	Links    []Link // to what belongs to it
	Children []Block
}

// Raw is JSON as lines: of the row, or of a part of it.
type Raw struct {
	Note   string
	Lines  []RawLine
	From   int // ordinal of Lines[0]
	Total  int
	Find   string // text that is looked for
	Found  string // "3 of 12"
	Prev   string // links to the places around
	Next   string
	Line   int    // ordinal of the line the page stands at, −1 for none
	Places []Link // of findings
	Copy   string // what the button copies
}

// A RawLine is one line of pretty-printed JSON.
type RawLine struct {
	Depth   int
	Key     string
	Text    string
	Kind    string
	Before  int // characters of a text that are left out in front of Text
	Folded  int // characters that are left out behind it
	Comma   bool
	Marked  bool // a finding stands here
	Current bool // the page stands here
	KeyHits []Hit
	Hits    []Hit // places of the text that is looked for, in Text
}

// A Hit is a place of the text that is looked for, in bytes.
type Hit struct {
	From, To int
	Now      bool   // the page stands at it
	ID       string // of the element of one that the page stands at, where it is looked for
}
