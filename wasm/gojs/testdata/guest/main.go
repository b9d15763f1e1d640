// Command guest is the js program of the tests of package gojs. The first
// argument chooses what it does; results go to standard output.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall/js"
	"time"
)

var cases = map[string]func(args []string){
	"args":      func(args []string) { fmt.Printf("%q\n", args) },
	"env":       func(args []string) { fmt.Printf("%q %q\n", os.Getenv(args[0]), os.Getenv("NONE")) },
	"exit":      func([]string) { os.Exit(7) },
	"panic":     func([]string) { inner("boom") },
	"nil":       func([]string) { var p *int; *p = 1 },
	"zone":      zone,
	"timers":    timers,
	"workers":   workers,
	"promise":   promise,
	"funcs":     funcs,
	"wait":      wait,
	"garbage":   garbage,
	"deadlock":  func([]string) { var mu sync.Mutex; mu.Lock(); mu.Lock() },
	"park":      park,
	"cat":       cat,
	"link":      link,
	"files":     files,
	"scratch":   scratch,
	"stdin":     stdin,
	"recursion": recursion,
	"spin": func([]string) {
		global.Call("cancel")
		for i := 0; ; i++ {
			sink = i
		}
	},
	"memory": func([]string) {
		for {
			held = append(held, make([]byte, 16<<20))
		}
	},
	"exitlater": exitLater,
	"console":   func([]string) { global.Get("console").Call("log", 1, "two", js.Null(), []any{3, nil}) },
	"jsexit":    func([]string) { global.Get("process").Call("exit", 9); fmt.Println("not reached") },
	"throw":     throw,
	"random":    random,
	"released":  released,
	"language":  language,
}

var (
	global = js.Global()

	sink int
	held [][]byte
)

func main() {
	run, ok := cases[os.Args[1]]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such case:", os.Args[1])
		os.Exit(3)
	}
	run(os.Args[2:])
}

//go:noinline
func inner(s string) { panic(s) }

func zone([]string) {
	t := time.Date(2024, 7, 1, 12, 0, 0, 0, time.UTC)
	fmt.Println(t.Local().Format("15:04 -0700"), time.Now().UTC().Format(time.RFC3339))
}

// timers counts on a virtual clock: the waits are hours long.
func timers([]string) {
	start := time.Now()
	late := time.AfterFunc(5*time.Hour, func() { fmt.Println("never") })
	time.AfterFunc(3*time.Hour, func() { fmt.Println("three") })
	done := make(chan bool)
	global.Call("setTimeout", js.FuncOf(func(js.Value, []js.Value) any { fmt.Println("js"); return nil }), 2*3600*1000)
	dropped := global.Call("setTimeout", js.FuncOf(func(js.Value, []js.Value) any { fmt.Println("never"); return nil }), 1000)
	global.Call("clearTimeout", dropped)
	n := 0
	var every js.Value
	every = global.Call("setInterval", js.FuncOf(func(js.Value, []js.Value) any {
		if n++; n == 3 {
			global.Call("clearInterval", every)
		}
		fmt.Println("tick", n)
		return nil
	}), 1000)
	go func() {
		time.Sleep(time.Hour)
		fmt.Println("one")
		time.Sleep(3 * time.Hour)
		fmt.Println("four", late.Stop())
		close(done)
	}()
	tick := time.NewTicker(90 * time.Minute)
	<-tick.C
	<-tick.C
	tick.Stop()
	<-done
	fmt.Println(time.Since(start).Round(time.Minute))
}

func workers([]string) {
	in, out := make(chan int), make(chan int)
	var wg sync.WaitGroup
	for range 50 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range in {
				runtime.Gosched()
				out <- n * n
			}
		}()
	}
	go func() {
		for i := range 1000 {
			in <- i
		}
		close(in)
		wg.Wait()
		close(out)
	}()
	sum := 0
	for n := range out {
		sum += n
	}
	fmt.Println(sum)
}

// await waits for a promise in the way that Go code does it.
func await(p js.Value) (js.Value, error) {
	type result struct {
		v   js.Value
		err error
	}
	c := make(chan result, 1)
	ok := js.FuncOf(func(_ js.Value, args []js.Value) any { c <- result{v: args[0]}; return nil })
	bad := js.FuncOf(func(_ js.Value, args []js.Value) any { c <- result{err: js.Error{Value: args[0]}}; return nil })
	defer ok.Release()
	defer bad.Release()
	p.Call("then", ok, bad)
	r := <-c
	return r.v, r.err
}

func promise([]string) {
	v, err := await(global.Call("fetchRow", 3))
	fmt.Println(v.String(), err)
	time.Sleep(time.Millisecond)
	_, err = await(global.Call("fetchRow", -1))
	fmt.Println(err)
	v, _ = await(global.Get("Promise").Call("all", []any{global.Call("fetchRow", 1), 2}))
	fmt.Println(v.Index(0).String(), v.Index(1).Int())
}

// funcs leaves functions for the host and waits for the word to stop.
func funcs([]string) {
	stop := make(chan bool)
	total := 0
	global.Set("push", js.FuncOf(func(_ js.Value, args []js.Value) any {
		b := make([]byte, args[0].Length())
		js.CopyBytesToGo(b, args[0])
		for _, c := range b {
			total += int(c)
		}
		return total
	}))
	global.Set("grow", js.FuncOf(func(_ js.Value, args []js.Value) any { return deep(args[0].Int()) }))
	global.Set("self", js.FuncOf(func(this js.Value, args []js.Value) any {
		return this.Get("name").String() + fmt.Sprint(len(args), this.InstanceOf(global.Get("Object")))
	}))
	global.Set("stop", js.FuncOf(func(js.Value, []js.Value) any { close(stop); return nil }))
	<-stop
	fmt.Println("stopped", total)
}

// deep makes the stack grow and so move while the host waits for the answer.
func deep(n int) int {
	var pad [512]byte
	if n == 0 {
		return global.Call("twice", 21).Int()
	}
	pad[n%512] = byte(n)
	return deep(n-1) + int(pad[n%512]) - int(byte(n))
}

// wait calls a function of the host that calls back while this one is running.
func wait([]string) {
	f := js.FuncOf(func(_ js.Value, args []js.Value) any { return deep(200) + args[0].Int() })
	o := global.Get("Object").New()
	o.Set("answer", global.Call("callMe", f, 5))
	fmt.Println(o.Get("answer").Int())
}

func garbage([]string) {
	object := global.Get("Object")
	before := global.Call("values").Int()
	for i := range 200 {
		for range 50 {
			o := object.New()
			o.Set("text", strings.Repeat("x", i))
		}
		held = append(held[:0], make([]byte, 1<<16))
		runtime.GC()
	}
	after := global.Call("values").Int()
	fmt.Println(after-before < 2000)
}

func park([]string) {
	global.Set("later", js.FuncOf(func(js.Value, []js.Value) any {
		go func() {
			time.Sleep(time.Hour)
			fmt.Println("later")
		}()
		return nil
	}))
	select {}
}

func cat(args []string) {
	b, err := os.ReadFile(args[0])
	fmt.Printf("%q %v\n", b, err)
}

func link(args []string) {
	to, err := os.Readlink(args[0])
	fmt.Println(to, err)
	info, err := os.Lstat(args[0])
	fmt.Println(info.Mode().Type(), err)
	cat(args)
}

func files([]string) {
	b, err := os.ReadFile("a.txt")
	fmt.Printf("%q %v\n", b, err)
	entries, err := os.ReadDir("/data")
	for _, e := range entries {
		fmt.Print(e.Name(), " ", e.IsDir(), " ")
	}
	fmt.Println(err)
	f, err := os.Open("/data/sub/b.txt")
	fmt.Println(err)
	part := make([]byte, 3)
	f.ReadAt(part, 2)
	f.Seek(-2, 2)
	rest := make([]byte, 9)
	n, _ := f.Read(rest)
	info, _ := f.Stat()
	fmt.Printf("%s %s %d %v %s\n", part, rest[:n], info.Size(), info.Mode(), info.ModTime().UTC().Format(time.RFC3339))
	f.Close()
	_, err = f.Stat()
	fmt.Println(errors.Is(err, fs.ErrClosed))
	_, err = os.Open("none")
	fmt.Println(err, errors.Is(err, fs.ErrNotExist))
	_, err = os.Create("new.txt")
	fmt.Println(err)
	fmt.Println(os.Remove("a.txt"))
	_, err = os.ReadFile("sub")
	fmt.Println(err)
	fmt.Println(os.Chdir("sub"), os.Chdir("/nowhere"))
	wd, err := os.Getwd()
	fmt.Println(wd, err)
	_, err = os.Stat("../a.txt")
	fmt.Println(err)
}

func scratch([]string) {
	check := func(what string, err error) {
		if err != nil {
			fmt.Println(what, err)
		}
	}
	dir, err := os.MkdirTemp("", "t")
	check("mkdirtemp", err)
	name := dir + "/f"
	check("write", os.WriteFile(name, []byte("hello"), 0o600))
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	check("append", err)
	f.WriteString(" world")
	_, err = f.Read(make([]byte, 1))
	fmt.Println(err != nil)
	check("close", f.Close())
	check("rename", os.Rename(name, dir+"/g"))
	b, err := os.ReadFile(dir + "/g")
	fmt.Printf("%s %v\n", b, err)
	check("truncate", os.Truncate(dir+"/g", 2))
	check("chmod", os.Chmod(dir+"/g", 0o400))
	check("chtimes", os.Chtimes(dir+"/g", time.Unix(5, 0), time.Unix(5, 0)))
	info, err := os.Stat(dir + "/g")
	fmt.Println(info.Size(), info.Mode(), info.ModTime().Unix(), err)
	f, err = os.OpenFile(dir+"/g", os.O_RDWR, 0)
	fmt.Println(err) // chmod has no power here, there is one user
	check("ftruncate", f.Truncate(4))
	check("fchmod", f.Chmod(0o640))
	check("sync", f.Sync())
	_, err = f.WriteAt([]byte("Z"), 6)
	check("writeat", err)
	f.Seek(0, 0)
	all := make([]byte, 20)
	n, err := f.Read(all)
	info, _ = f.Stat()
	fmt.Printf("%q %v %v\n", all[:n], err, info.Mode())
	fmt.Println(f.Truncate(-1) != nil, f.Truncate(1<<40) != nil, f.Close(), os.Truncate(dir, 0) != nil)
	check("mkdirall", os.MkdirAll(dir+"/a/b/c", 0o700))
	fmt.Println(os.Remove(dir+"/a") != nil)
	fmt.Println(os.Rename(dir+"/a", dir+"/a/b/d") != nil)
	check("exclusive", os.WriteFile(dir+"/a/x", nil, 0o600))
	_, err = os.OpenFile(dir+"/a/x", os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	fmt.Println(errors.Is(err, fs.ErrExist))
	_, err = os.Open(dir + "/g/below")
	fmt.Println(err != nil)
	check("write", os.WriteFile(dir+"/a/y", []byte("y"), 0o600))
	check("overwrite", os.Rename(dir+"/a/x", dir+"/a/y"))
	check("write", os.WriteFile(dir+"/a/x", []byte("x"), 0o600))
	fmt.Println(os.Rename(dir+"/a/y", dir+"/a/b") != nil, os.Rename(dir+"/a/b", dir+"/a/y") != nil, os.Rename(dir+"/none", dir+"/a") != nil,
		os.Mkdir(dir+"/a", 0o700) != nil, os.Mkdir(dir+"/none/x", 0o700) != nil, os.WriteFile(dir, nil, 0o600) != nil, os.Rename(dir+"/a/y", "/out") != nil,
		os.Symlink("a", dir+"/l") != nil, os.Remove(os.TempDir()) != nil, os.Mkdir(dir+strings.Repeat("/x", 3000), 0o700) != nil)
	entries, err := os.ReadDir(dir + "/a")
	fmt.Println(len(entries), entries[0].Name(), entries[0].IsDir(), err)
	_, err = os.Readlink(dir)
	fmt.Println(err != nil, os.Chdir(dir), os.Chdir("a/x") != nil)
	_, err = os.Stat("a/y")
	fmt.Println(err)
	check("removeall", os.RemoveAll(dir))
	_, err = os.Stat(dir)
	fmt.Println(errors.Is(err, fs.ErrNotExist))
}

func stdin([]string) {
	go func() {
		time.Sleep(time.Millisecond)
	}()
	s := bufio.NewScanner(os.Stdin)
	for s.Scan() {
		fmt.Println("line", s.Text())
	}
	fmt.Println(s.Err())
}

// recursion calls itself through the host until the host refuses. A panic must
// not cross a call from the host, so each level turns it into a result.
func recursion([]string) {
	var f js.Func
	depth := 0
	f = js.FuncOf(func(js.Value, []js.Value) (result any) {
		defer func() {
			if err, ok := recover().(js.Error); ok {
				result = err.Value
			}
		}()
		depth++
		return f.Invoke()
	})
	err := f.Invoke()
	fmt.Println(err.InstanceOf(global.Get("RangeError")), err.Get("message").String(), depth > 100)
}

// exitLater exits in a function that the host calls while main waits for it.
func exitLater([]string) {
	defer fmt.Println("not reached")
	global.Call("callMe", js.FuncOf(func(js.Value, []js.Value) any {
		os.Exit(4)
		return nil
	}), 1)
	fmt.Println("not reached")
}

func throw([]string) {
	try := func(f func()) {
		defer func() {
			switch e := recover().(type) {
			case js.Error:
				fmt.Println("error:", e.Get("message").String(), e.Get("code").String())
			default:
				fmt.Println("other:", e)
			}
		}()
		f()
	}
	try(func() { global.Call("fail", "plain") })
	try(func() { global.Call("fail", "coded") })
	try(func() { global.Call("none") })
	try(func() { global.Get("Array").New(-1) })
	try(func() { global.Get("Uint8Array").New(1 << 40) })
	try(func() { global.Get("Function").New("return 1") })
	try(func() { global.Get("process").Call("getgroups") })
}

func random([]string) {
	a := global.Get("Uint8Array").New(4)
	global.Get("crypto").Call("getRandomValues", a)
	fmt.Println(a.Index(0).Int(), a.Index(1).Int(), a.Index(2).Int(), a.Index(3).Int())
}

func released([]string) {
	f := js.FuncOf(func(js.Value, []js.Value) any { return 1 })
	f.Release()
	fmt.Println(f.Invoke().IsUndefined())
}
