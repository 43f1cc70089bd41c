// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package crash

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// action is what a step does to storage.
type action string

const (
	create   action = "create"
	write    action = "write"
	truncate action = "truncate"
	syncFile action = "sync"
	rename   action = "rename"
	link     action = "link"
	unlink   action = "unlink"
	mkdir    action = "mkdir"
	lock     action = "lock"
	closing  action = "close"
	say      action = "say" // no step: what the process tells
)

// op is one system call.
type op struct {
	action action
	path   string
	to     string // rename and link
	data   []byte // write and say
	at     int64  // write: the offset; truncate: the size
	failed bool
}

func (o op) String() string {
	s := fmt.Sprint(o.action, " ", filepath.Base(o.path))
	switch o.action { //nolint:exhaustive // the others say all
	case write:
		s += fmt.Sprintf(" %d+%d", o.at, len(o.data))
	case truncate:
		s += fmt.Sprint(" ", o.at)
	case rename, link:
		s += " " + filepath.Base(o.to)
	}
	return s
}

// trace is what a process did.
type trace struct {
	ops   []op
	ended bool // by itself
	exit  int
}

// steps is how many steps there are.
func (t *trace) steps() int {
	n := 0
	for _, o := range t.ops {
		if o.action != say {
			n++
		}
	}
	return n
}

// tracer follows one process, with all its threads, from one thread of this one.
type tracer struct {
	dir     string
	pid     int
	stop    int // the number of the step before which it is killed; 0 for never
	trace   trace
	count   int
	pending map[int]int // by thread: the index of the op under way
	killed  bool
	err     error
}

// follow runs this program with arguments and traces what it does in dir. With
// stop set, it is killed right before that step.
func follow(dir string, stop int, args ...string) (*trace, error) {
	t := &tracer{dir: dir, stop: stop, pending: map[int]int{}}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with it
		done <- t.run(args)
	}()
	err := <-done
	return &t.trace, err
}

const (
	waitFlags  = syscall.WALL | 0x20000000 // __WNOTHREAD: nobody else's children
	syscallBit = 0x80
)

func (t *tracer) run(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	t.pid, err = syscall.ForkExec(self, append([]string{self}, args...), &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{null.Fd(), null.Fd(), os.Stderr.Fd()},
		Sys:   &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return err
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(t.pid, &status, waitFlags, nil); err != nil {
		return err
	}
	options := syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(t.pid, options); err != nil {
		return fmt.Errorf("trace a process: %w", err)
	}
	if err := syscall.PtraceSyscall(t.pid, 0); err != nil {
		return err
	}
	return errors.Join(t.loop(), t.err)
}

func (t *tracer) loop() error {
	for {
		var status syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &status, waitFlags, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return err
		case status.Exited() || status.Signaled():
			if tid == t.pid {
				t.trace.ended, t.trace.exit = status.Exited(), status.ExitStatus()
				return nil
			}
			continue
		}
		deliver := 0
		switch sig := status.StopSignal(); {
		case sig == syscall.SIGTRAP|syscallBit:
			t.syscall(tid)
		case sig == syscall.SIGTRAP, sig == syscall.SIGSTOP: // of the tracing itself
		default:
			deliver = int(sig)
		}
		if err := syscall.PtraceSyscall(tid, deliver); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
}

// info is struct ptrace_syscall_info of the kernel (ptrace(2)).
type info struct {
	op    uint8
	_     [3]uint8
	_     uint32
	_, _  uint64
	first uint64 // the number of the call, or its result
	args  [6]uint64
	_     uint64
}

const (
	getSyscallInfo = 0x420e // PTRACE_GET_SYSCALL_INFO
	entry, exit    = 1, 2
)

func (t *tracer) syscall(tid int) {
	var i info
	_, _, no := syscall.RawSyscall6(syscall.SYS_PTRACE, getSyscallInfo, uintptr(tid), unsafe.Sizeof(i), uintptr(unsafe.Pointer(&i)), 0, 0)
	switch {
	case no == syscall.ESRCH:
	case no != 0:
		t.fail(fmt.Errorf("look at a system call: %w", no))
	case i.op == exit:
		if n, ok := t.pending[tid]; ok {
			delete(t.pending, tid)
			t.trace.ops[n].failed = int64(i.first) < 0
			if w := &t.trace.ops[n]; w.action == write && !w.failed {
				w.data = w.data[:i.first]
			}
		}
	case i.op == entry && !t.killed:
		o, ok := t.understand(tid, int(i.first), i.args)
		if !ok {
			return
		}
		if o.action != say {
			if t.count++; t.count == t.stop {
				t.killed = true
				t.fail(syscall.Kill(t.pid, syscall.SIGKILL))
				return
			}
		}
		t.pending[tid] = len(t.trace.ops)
		t.trace.ops = append(t.trace.ops, o)
	}
}

func (t *tracer) fail(err error) {
	if err != nil && t.err == nil {
		t.err = err
	}
}

// understand says what a system call will do in the folder; it is false for one
// that does nothing there.
func (t *tracer) understand(tid, number int, a [6]uint64) (op, bool) {
	switch number {
	case unix.SYS_WRITE:
		return t.writes(a, -1)
	case unix.SYS_PWRITE64:
		return t.writes(a, int64(a[3]))
	case unix.SYS_FTRUNCATE:
		return t.file(truncate, a[0], int64(a[1]))
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		return t.file(syncFile, a[0], 0)
	case unix.SYS_FLOCK:
		return t.file(lock, a[0], 0)
	case unix.SYS_CLOSE:
		return t.file(closing, a[0], 0)
	case unix.SYS_OPENAT:
		return t.opens(a)
	case unix.SYS_MKDIRAT:
		return t.named(mkdir, a[1], 0)
	case unix.SYS_UNLINKAT:
		return t.named(unlink, a[1], 0)
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		return t.named(rename, a[1], a[3])
	case unix.SYS_LINKAT:
		return t.named(link, a[1], a[3])
	case unix.SYS_MMAP:
		if a[2]&unix.PROT_WRITE != 0 && a[3]&unix.MAP_SHARED != 0 {
			t.refuse("a shared writable mapping", a[4])
		}
	case unix.SYS_WRITEV, unix.SYS_PWRITEV, unix.SYS_PWRITEV2, unix.SYS_SENDFILE, unix.SYS_FALLOCATE, unix.SYS_SYNC_FILE_RANGE:
		t.refuse(fmt.Sprint("system call ", number), a[0])
	case unix.SYS_COPY_FILE_RANGE, unix.SYS_SPLICE:
		t.refuse(fmt.Sprint("system call ", number), a[2])
	case unix.SYS_TRUNCATE, unix.SYS_SYMLINKAT, unix.SYS_OPENAT2, unix.SYS_IO_URING_SETUP, unix.SYS_SYNC:
		t.fail(fmt.Errorf("system call %d is not understood", number))
	}
	return op{}, false
}

// refuse fails when a file of the folder is written in a way that is not
// understood.
func (t *tracer) refuse(what string, fd uint64) {
	if path := t.pathOf(fd); t.inside(path) {
		t.fail(fmt.Errorf("%s on %s is not understood", what, path))
	}
}

func (t *tracer) inside(path string) bool {
	return path == t.dir || strings.HasPrefix(path, t.dir+"/") || path == filepath.Dir(t.dir)
}

func (t *tracer) pathOf(fd uint64) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", t.pid, int32(fd)))
	if err != nil {
		return ""
	}
	return path
}

func (t *tracer) file(a action, fd uint64, at int64) (op, bool) {
	path := t.pathOf(fd)
	return op{action: a, path: path, at: at}, t.inside(path)
}

func (t *tracer) writes(a [6]uint64, at int64) (op, bool) {
	if int32(a[0]) == 1 {
		return op{action: say, data: t.memory(a[1], int(a[2]))}, true
	}
	o, ok := t.file(write, a[0], at)
	if !ok {
		return o, false
	}
	if at < 0 { // where the file stands
		o.at = t.position(a[0])
	}
	o.data = t.memory(a[1], int(a[2]))
	return o, true
}

func (t *tracer) position(fd uint64) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", t.pid, int32(fd)))
	var at int64
	if err == nil {
		_, err = fmt.Sscanf(string(text), "pos: %d", &at)
	}
	t.fail(err)
	return at
}

// opens is a step only where it makes a file.
func (t *tracer) opens(a [6]uint64) (op, bool) {
	o, ok := t.named(create, a[1], 0)
	if !ok || a[2]&unix.O_CREAT == 0 {
		return op{}, false
	}
	_, err := os.Lstat(o.path)
	return o, err != nil
}

func (t *tracer) named(a action, path, to uint64) (op, bool) {
	o := op{action: a, path: t.text(path)}
	if to != 0 {
		o.to = t.text(to)
	}
	return o, t.inside(o.path) && o.path != filepath.Dir(t.dir)
}

// text is a string in the process.
func (t *tracer) text(at uint64) string {
	const page = 4096
	var all []byte
	for len(all) < 2*page {
		n := page - int(at%page) // strings may end where memory does
		part := t.memory(at, n)
		if end := bytes.IndexByte(part, 0); end >= 0 {
			return string(append(all, part[:end]...))
		}
		all = append(all, part...)
		at += uint64(n)
	}
	return string(all)
}

// memory is some of what the process has in memory.
func (t *tracer) memory(at uint64, n int) []byte {
	if n == 0 {
		return nil
	}
	data := make([]byte, n)
	local := []unix.Iovec{{Base: &data[0]}}
	local[0].SetLen(n)
	got, err := unix.ProcessVMReadv(t.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: n}}, 0)
	if err != nil || got != n {
		t.fail(fmt.Errorf("read %d bytes of the process: %d, %w", n, got, err))
	}
	return data
}
