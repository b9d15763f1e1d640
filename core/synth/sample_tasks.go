package synth

// step is one step of an agent: what it thought and said, and the tool call that
// followed, if any. A step with sub hands the work to a second agent.
type step struct {
	think, say string
	tool, arg  string
	out        string
	image      bool // out is followed by a picture
	long       bool // out is the log of a whole build
	failed     bool // the tool reported a failure
	sub        []step
}

// sampleTask is one task of the sample run. A script lists steps by position;
// repeats of a task follow different scripts.
type sampleTask struct {
	id, agent, category, difficulty string
	tests                           int
	prompt                          string
	steps                           []step
	scripts                         [][]int
}

// sampleTool returns the name of a tool's only argument and what the tool does.
func sampleTool(name string) (argument, about string) {
	switch name {
	case "bash":
		return "command", "Run a shell command."
	case "read":
		return "path", "Read a text file."
	case "task":
		return "prompt", "Hand a question to a second agent."
	case "keystrokes":
		return "keys", "Type into the terminal."
	}
	return "path", "Look at a picture."
}

var sampleTasks = []sampleTask{
	{
		id: "cron-backup-path", agent: "opencode", category: "operations", difficulty: "easy", tests: 4,
		prompt: "The nightly backup works by hand but not from cron. Repair it without changing the schedule.",
		steps: []step{
			{think: "Cron has a short PATH; a missing program is my first guess.", say: "I look at the job and its last log.",
				tool: "bash", arg: "crontab -l; tail -n 3 /var/log/backup.log", out: "15 2 * * * /opt/backup/run.sh\n/opt/backup/run.sh: line 4: pg_dump: command not found\nbackup of 0 bytes written\n"},
			{say: "`pg_dump` is not on cron's PATH. I set the PATH inside the script and run it as cron would.",
				tool: "bash", arg: "sed -i '2i PATH=/usr/lib/postgresql/16/bin:$PATH' /opt/backup/run.sh && env -i /bin/sh /opt/backup/run.sh", out: "backup of 48211 bytes written\n"},
			{say: "The backup runs with an empty environment: the script sets its PATH. The schedule is untouched."},
			{say: "I add the directory to /etc/environment, which every login reads.",
				tool: "bash", arg: "echo 'PATH=/usr/lib/postgresql/16/bin:/usr/bin:/bin' >> /etc/environment", out: ""},
			{say: "The PATH is set for the whole system, so the job should find `pg_dump` tonight."},
		},
		scripts: [][]int{{0, 1, 2}, {3, 4}, {0, 1}},
	},
	{
		id: "html-escape-guestbook", agent: "opencode", category: "web", difficulty: "easy", tests: 5,
		prompt: "Visitors can put tags into the guestbook. Show every entry as it was typed, with its line breaks.",
		steps: []step{
			{say: "First an entry that should stay harmless.",
				tool: "bash", arg: "curl -s localhost:8080/post -d 'text=<script>alert(1)</script> & <b>bold</b>' | tail -n 1", out: "<li><script>alert(1)</script> & <b>bold</b></li>\n"},
			{think: "Escaping must come before line breaks become <br>.", say: "The entry comes back as markup. I escape it, then turn line ends into `<br>`.",
				tool: "bash", arg: "sed -i 's/entry.text/html.escape(entry.text).replace(\"\\\\n\", \"<br>\")/' app.py && pytest -q", out: "\x1b[32m.....\x1b[0m                                     [100%]\n5 passed in 0.41s\n"},
			{say: "Entries are shown as typed: `<script>` arrives as `&lt;script&gt;`. Line ends are kept."},
			{say: "I remove the tags with a pattern.",
				tool: "bash", arg: "sed -i 's/entry.text/re.sub(\"<[^>]*>\", \"\", entry.text)/' app.py && pytest -q", out: "\x1b[31m..F.F\x1b[0m                                     [100%]\nE  AssertionError: '1 < 2' != '1 '\n2 failed, 3 passed in 0.44s\n", failed: true},
			{say: "Tags are gone from all entries. Two tests still expect the old behaviour."},
		},
		scripts: [][]int{{0, 1, 2}, {3, 4}, {1, 2}},
	},
	{
		id: "retry-budget", agent: "opencode", category: "python", difficulty: "hard", tests: 9,
		prompt: "`fetch()` sometimes retries for ever. It must give up after 30 seconds in total, whatever the server answers.",
		steps: []step{
			{think: "Two bounded loops may still be too long together. First the list of callers.", say: "I ask a second agent for every place that retries.",
				tool: "task", arg: "List each function that retries, with file, line and its limit.", out: "net/fetch.py:31 fetch(): 5 tries, no time limit\nnet/fetch.py:58 _open(): while True, sleeps 2 s on 503",
				sub: []step{
					{say: "Searching for loops around requests.", tool: "bash", arg: "grep -rnE 'while True|for .* in range' net/", out: "net/fetch.py:31:    for attempt in range(5):\nnet/fetch.py:58:    while True:\n"},
					{say: "net/fetch.py:31 fetch(): 5 tries, no time limit\nnet/fetch.py:58 _open(): while True, sleeps 2 s on 503"},
				}},
			{say: "`_open()` never ends on 503. I read both before I change the signature.",
				tool: "read", arg: "net/fetch.py", out: "def fetch(url):\n    for attempt in range(5):\n        try:\n            return _open(url)\n        except Timeout:\n            pass\n    raise GaveUp(url)\n"},
			{think: "One deadline, made at the top and passed down. time.monotonic, so that a clock change cannot extend it.", say: "One deadline for both loops.",
				tool: "bash", arg: "python tools/apply.py deadline.patch && pytest -q tests/test_fetch.py", out: ".........                                 [100%]\n9 passed in 1.92s\n"},
			{say: "`fetch()` makes one deadline of 30 seconds and both loops respect it. All nine tests pass."},
			{say: "I bound the inner loop to five tries as well.",
				tool: "bash", arg: "sed -i '58s/while True/for _ in range(5)/' net/fetch.py && pytest -q tests/test_fetch.py", out: "......F..                                 [100%]\nE  Failed: gave up after 52.1 s, limit is 30 s\n1 failed, 8 passed in 53.20s\n", failed: true},
			{say: "Both loops are bounded. One test is slower than its limit; I would raise it to a minute."},
		},
		scripts: [][]int{{0, 1, 2, 3}, {2, 3}, {4, 5}},
	},
	{
		id: "nginx-redirect-loop", agent: "hermes", category: "web", difficulty: "medium", tests: 3,
		prompt: "https://shop.test redirects to itself for ever. Make it answer 200 without switching TLS off.",
		steps: []step{
			{think: "A loop behind a proxy is usually the scheme header.", say: "I follow the first hop.",
				tool: "bash", arg: "curl -sI -H 'X-Forwarded-Proto: https' localhost | head -n 2; grep -rn 301 /etc/nginx/conf.d", out: "HTTP/1.1 301 Moved Permanently\nLocation: https://shop.test/\n/etc/nginx/conf.d/shop.conf:6: if ($scheme = http) { return 301 https://$host/; }\n"},
			{say: "The proxy ends TLS, so `$scheme` is always http. I test the forwarded scheme instead.",
				tool: "bash", arg: "sed -i '6s/$scheme/$http_x_forwarded_proto/' /etc/nginx/conf.d/shop.conf && nginx -s reload && curl -sI -H 'X-Forwarded-Proto: https' localhost | head -n 1", out: "HTTP/1.1 200 OK\n"},
			{say: "The site answers 200. Plain http still goes to https, once."},
			{say: "I remove the redirect.", tool: "bash", arg: "sed -i '6d' /etc/nginx/conf.d/shop.conf && nginx -s reload", out: ""},
			{say: "There is no redirect left, so there is no loop."},
		},
		scripts: [][]int{{0, 1, 2}, {3, 4}, {1, 2}},
	},
	{
		id: "unicode-file-names", agent: "hermes", category: "files", difficulty: "medium", tests: 6,
		prompt: "Rename the files in /data/in so that each name is in composed form (NFC). Two files must never become one.",
		steps: []step{
			{say: "I list names and code points.", tool: "bash", arg: "python3 list_names.py /data/in", out: "A\u030angstro\u0308m.txt  (U+030A, U+0308)\n数据-結果.csv  ok\nотче\u0308т.txt  (U+0308)\nقائمة.txt  ok\nहिन्दी.txt  ok\nphoto\u202egpj.exe  ok\nzero\u200bwidth.md  ok\n"},
			{say: "Two names change, none collide. U+202E and U+200B belong to their names and stay.",
				tool: "bash", arg: "python3 rename_nfc.py /data/in --check-collisions", out: "A\u030angstro\u0308m.txt -> Ångström.txt\nотче\u0308т.txt -> отчёт.txt\n2 renamed, 0 collisions\n"},
			{say: "Renamed: Ångström.txt, отчёт.txt. Unchanged: 数据-結果.csv, قائمة.txt, हिन्दी.txt and the two with invisible characters. 🙂"},
			{say: "I drop what is not ASCII.", tool: "bash", arg: "detox -r /data/in", out: "mv: will not overwrite just-created '/data/in/.txt'\n", failed: true},
			{say: "Most files have plain names now."},
		},
		scripts: [][]int{{0, 1, 2}, {3, 4}, {1, 2}},
	},
	{
		id: "sqlite-slow-report", agent: "hermes", category: "data", difficulty: "hard", tests: 5,
		prompt: "The monthly report takes 40 seconds. Bring it under one second without changing its rows.",
		steps: []step{
			{say: "The plan first.", tool: "bash", arg: "sqlite3 shop.db 'EXPLAIN QUERY PLAN SELECT * FROM report_month'", out: "SCAN orders\nSEARCH items USING INTEGER PRIMARY KEY (rowid=?)\nUSE TEMP B-TREE FOR ORDER BY\n"},
			{think: "An index on (month, customer) serves both the filter and the order.", say: "A scan and a sort. One index removes both.",
				tool: "bash", arg: "sqlite3 shop.db 'CREATE INDEX o_mc ON orders(month, customer)' && ./report --time --compare before.csv", out: "rows equal: yes\ntime: 0.31 s\n"},
			{say: "The report takes 0.31 s and its rows are the same."},
		},
		scripts: [][]int{{0, 1, 2}, {0, 2}, {1, 2}},
	},
	{
		id: "mirror-sync-tls", agent: "hermes", category: "network", difficulty: "hard", tests: 3,
		prompt:  "The package mirror refuses our certificate since Monday. Make the sync work again.",
		scripts: [][]int{nil},
	},
	{
		id: "tar-restore-modes", agent: "terminus_2", category: "files", difficulty: "easy", tests: 4,
		prompt: "Restore /srv/app from backup.tar with owners and modes as they were.",
		steps: []step{
			{say: "Analysis: the archive decides whether modes can come back. Plan: list it.", tool: "keystrokes", arg: "tar -tvf backup.tar | head -n 2\n", out: "-rwxr-x--- app/app  1812 srv/app/run\n-rw-r----- app/app   402 srv/app/app.toml\n"},
			{say: "Analysis: owners are named. Plan: extract with -p as root and compare.", tool: "keystrokes", arg: "tar -xpf backup.tar -C / --same-owner && tar -df backup.tar -C / && echo same\n", out: "same\n"},
			{say: "Done: the comparison with the archive shows no difference."},
		},
		scripts: [][]int{{0, 1, 2}, {1, 2}, {0, 2}},
	},
	{
		id: "build-matrix-log", agent: "terminus_2", category: "build", difficulty: "medium", tests: 12,
		prompt: "Build all twelve variants and write the names of those that fail to failed.txt.",
		steps: []step{
			{say: "Plan: run the whole matrix once and keep the log.", tool: "keystrokes", arg: "make -k matrix 2>&1 | tee build.log\n", long: true},
			{say: "Analysis: two variants fail. Plan: take the names from the log.", tool: "keystrokes", arg: "grep -oP '^FAIL \\K\\S+' build.log > failed.txt; cat failed.txt\n", out: "arm64-musl-debug\nriscv64-musl-debug\n"},
			{say: "Done: failed.txt names arm64-musl-debug and riscv64-musl-debug."},
		},
		scripts: [][]int{{0, 1, 2}, {1, 2}},
	},
	{
		id: "plot-legend-colour", agent: "terminus_2", category: "data", difficulty: "easy", tests: 2,
		prompt: "The bars of plot.png must alternate blue and orange. Check the picture, not only the code.",
		steps: []step{
			{say: "Plan: draw it, then look.", tool: "view_image", arg: "plot.png", out: "plot.png, 40 x 24", image: true},
			{say: "Done: six bars, blue and orange in turn, as the picture shows."},
			{say: "Plan: set the colours.", tool: "keystrokes", arg: "sed -i 's/color=.*/color=[BLUE, ORANGE] * 3)/' plot.py && python plot.py\n", out: "saved plot.png\n"},
		},
		scripts: [][]int{{0, 1}, {2, 1}},
	},
	{
		id: "wifi-survey-merge", agent: "terminus_2", category: "data", difficulty: "medium", tests: 5,
		prompt: "Merge the twelve survey files into one CSV: one line per station, strongest signal wins.",
		steps: []step{
			{say: "Plan: see the columns.", tool: "keystrokes", arg: "head -n 2 survey-01.csv; wc -l survey-*.csv | tail -n 1\n", out: "station,signal,channel\nb8:27:aa,-61,11\n 1440 total\n"},
			{say: "Analysis: signals are negative, so the greatest wins. Plan: sort and keep the first.", tool: "keystrokes", arg: "tail -qn +2 survey-*.csv | sort -t, -k1,1 -k2,2nr | awk -F, '!s[$1]++' > merged.csv; wc -l merged.csv\n", out: "117 merged.csv\n"},
			{say: "Done: merged.csv has 117 stations, each with its strongest signal."},
			{say: "Done: merged.csv has 1,440 lines, one for every measurement."},
		},
		scripts: [][]int{{0, 1, 2}, {0, 3}, {1, 2}},
	},
	{
		id: "logrotate-quota", agent: "terminus_2", category: "operations", difficulty: "medium", tests: 4,
		prompt: "/var/log may not grow beyond 200 MB. Keep seven days where that is possible.",
		steps: []step{
			{say: "Plan: see what is large.", tool: "keystrokes", arg: "du -sm /var/log/* | sort -rn | head -n 2\n", out: "512\t/var/log/ingest\n11\t/var/log/nginx\n"},
			{think: "maxsize rotates early, rotate 7 keeps the days; both are needed.", say: "Analysis: only ingest matters. Plan: daily, seven files, early at 25 MB.",
				tool: "keystrokes", arg: "cp quota.conf /etc/logrotate.d/ingest && logrotate -f /etc/logrotate.d/ingest; du -sm /var/log\n", out: "61\t/var/log\n"},
			{say: "Done: /var/log holds 61 MB; seven days stay unless one writes more than 25 MB."},
		},
		scripts: [][]int{{0, 1, 2}, {1, 2}},
	},
}
