package view

// A Host is what the page's script tells with every request: how far reading is, what went wrong outside
// the module, how the page came here. Field names are those of its JSON.
type Host struct {
	Mode      string      // page, file or served
	Theme     string      // "", light or dark
	Reading   bool        // files are being read
	Cancelled bool        // reading was stopped by a person
	Bytes     int64       // read so far
	Total     int64       // to read
	Seconds   float64     // spent reading
	Requests  int         // since the page was loaded
	Alerts    []HostAlert // about files
	Failed    string      // why the page cannot go on
	Lost      int         // dropped entries that could not be opened
	Keeps     string      // what a service worker keeps in the browser, a sentence; "" where there can be none
	Follow    string      // whether files are followed: "" where they cannot be, off or on
	Unasked   string      // why the second scan of the filter or the tab ended before it was done

	Stopped string // id of the search that a person has stopped

	Columns map[string]string // chosen before, by tab, as the State's text has them
}

// A HostAlert is a problem that the script met: a file vanished, a worker died.
type HostAlert struct{ Code, Path, Text, Help string }
