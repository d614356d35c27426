package apiserver

import (
	"runtime"
	"strings"
	"sync"

	"k8s.io/klog/v2"
)

// runHook is the function of k8s.io/apiserver that runs a hook after the start of a server, and calls klog.Fatal when the hook fails.
const runHook = "k8s.io/apiserver/pkg/server.runPostStartHook"

// callers bounds how far the stack of a hook is looked at: klog's own functions and the hook's.
const callers = 32

// containHooks has a hook that fails end alone. By itself it ends the process, with all other servers in it; the server whose hook it is
// never becomes ready, which its start sees.
var containHooks = sync.OnceFunc(func() {
	exit := klog.OsExit
	klog.OsExit = func(code int) {
		if inHook() {
			runtime.Goexit()
		}
		exit(code)
	}
})

// inHook reports whether the caller is a hook of a server.
func inHook() bool {
	counters := make([]uintptr, callers)
	frames := runtime.CallersFrames(counters[:runtime.Callers(1, counters)])
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, runHook) {
			return true
		}
		if !more {
			return false
		}
	}
}
