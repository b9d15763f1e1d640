// Command desk has nothing but exports. It is built with GOOS=js, and with
// GOOS=wasip1 -buildmode=c-shared as a reactor.
package main

import (
	"bytes"
	"fmt"
	"os"
	"time"
	"unsafe"
)

var (
	input  []byte
	output []byte
	lines  int
)

// buf returns the address of n bytes for the host to fill.
//
//go:wasmexport buf
func buf(n int32) int32 {
	if int(n) > cap(input) {
		input = make([]byte, n)
	}
	input = input[:cap(input)]
	return address(input)
}

func address(b []byte) int32 { return int32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// feed takes n bytes of the input and returns how many lines there were so far.
//
//go:wasmexport feed
func feed(n int32) int32 {
	lines += bytes.Count(input[:n], []byte("\n"))
	return int32(lines)
}

//go:wasmexport out
func out() int32 { return address(output) }

//go:wasmexport outlen
func outlen() int32 { return int32(len(output)) }

// call does one of several things that an export may or must not do.
//
//go:wasmexport call
func call(op, n int32) int32 {
	switch op {
	case 1: // answer
		output = fmt.Appendf(output[:0], "%d lines, %s", lines, bytes.ToUpper(input[:n]))
	case 2: // goroutines, and stacks that grow
		c := make(chan int)
		go func() { c <- deep(int(n)) }()
		return int32(<-c)
	case 3: // memory that grows
		output = append(output[:0], make([]byte, n)...)
		for i := range output {
			output[i] = byte(i)
		}
	case 4:
		panic(fmt.Sprint("boom ", n))
	case 5:
		os.Exit(int(n))
	case 6:
		time.Sleep(time.Millisecond)
		return 99
	case 7:
		fmt.Println("written", n)
	}
	return 0
}

func deep(n int) int {
	var pad [256]byte
	if n == 0 {
		return 0
	}
	pad[n%256] = 1
	return deep(n-1) + int(pad[n%256])
}

//go:wasmexport mixed
func mixed(a int32, b int64, c float32, d float64) float64 {
	return float64(a) + float64(b) + float64(c) + d
}

//go:wasmexport nothing
func nothing() {}
