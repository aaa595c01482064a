package findings

import (
	"strings"

	"ashlar/ingest/model/recording"
)

// class is a set of kinds of functions, recognized by their names.
type class uint8

const (
	collecting class = 1 << iota
	locking
	idling
	inKernel
)

// names lists the functions of each class: functions that do nothing else, and the names
// that runtimes use for the activity in traces. A final * stands for any ending.
var names = map[class][]string{
	collecting: {
		"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc*", "runtime.bgsweep", "runtime.gcStart", "runtime.gcMarkTermination", "runtime.bgscavenge",
		"GCTaskThread::run", "G1*::work", "VM_G1*", "ZGC*", "ParallelGC*", "(garbage collector)", "(garbage collection)", "MinorGC", "MajorGC", "V8.GC*", "GC",
		"v8::internal::Heap::CollectGarbage", "v8::internal::Heap::PerformGarbageCollection", "gc_start", "rb_gc_*", "gc_collect_main*", "_PyGC_Collect*", "gc.collect",
		"WKS::gc_heap::*", "SVR::gc_heap::*", "mono_gc_collect", "GC_collect_a_little*", "BlinkGC.*", "mark_and_sweep",
	},
	locking: {
		"__lll_lock_wait*", "pthread_mutex_lock*", "__pthread_mutex_lock*", "___pthread_mutex_lock", "pthread_rwlock_*lock", "__GI___lll_lock_wait*",
		"sync.(*Mutex).Lock", "sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).Lock", "internal/sync.(*Mutex).lockSlow", "sync.(*RWMutex).Lock", "sync.(*RWMutex).RLock",
		"runtime.lock2", "std::mutex::lock", "std::__1::mutex::lock", "ObjectMonitor::enter*", "ObjectMonitor::EnterI", "parking_lot::raw_mutex::RawMutex::lock_slow",
		"std::sys::sync::mutex::futex::Mutex::lock_contended", "native_queued_spin_lock_slowpath*", "queued_spin_lock_slowpath", "__mutex_lock*", "rwsem_down_*", "osq_lock",
		"futex_lock_pi*", "take_gil", "EnterCriticalSection", "RtlEnterCriticalSection", "RtlpEnterCriticalSectionContended", "java.util.concurrent.locks.ReentrantLock.lock",
		"wait for lock*", "waiting for lock*", "lock wait*", "lock contention*", "monitor contention*", "acquire lock*", "Lock contention*",
	},
	idling: {
		"[blocked*", "do_idle", "cpu_startup_entry", "intel_idle*", "acpi_idle*", "poll_idle", "cpuidle_enter*", "native_safe_halt", "default_idle*", "swapper", "runtime.gopark", "ThreadEventQueue::GetEvent::Wait", "(idle)", "[idle]", "idle", "runtime.findRunnable",
		"epoll_wait", "__epoll_wait", "poll", "__poll", "select", "__select", "nanosleep", "__nanosleep", "clock_nanosleep*", "sleep", "time.sleep", "pthread_cond_wait*", "pthread_cond_timedwait*", "__pthread_cond_wait*",
		"jdk.internal.misc.Unsafe.park", "java.lang.Object.wait*", "java.lang.Thread.sleep*", "sun.misc.Unsafe.park", "mach_msg_trap", "__psynch_cvwait", "kevent", "WaitForSingleObject*", "NtWaitFor*", "(program)",
	},
}

// classesOf returns the class of each function of a recording.
func classesOf(rec *recording.Recording) []class {
	whole, begins := map[string]class{}, map[string]class{}
	shortest := 1 << 10
	for c, all := range names {
		for _, n := range all {
			if p, ok := strings.CutSuffix(n, "*"); ok {
				begins[p] |= c
				shortest = min(shortest, len(p))
			} else if head, tail, ok := strings.Cut(n, "*"); ok && n[0] != '*' && !strings.HasSuffix(head, "(") {
				_ = tail
				begins[head] |= c
				shortest = min(shortest, len(head))
			} else {
				whole[n] |= c
			}
		}
	}
	longest := 0
	for p := range begins {
		longest = max(longest, len(p))
	}
	of := make([]class, rec.Functions.Len())
	for i := range of {
		f := rec.Functions.At(i)
		name := f.Name
		if at := strings.IndexByte(name, '('); at > 0 && name[len(name)-1] == ')' && !strings.Contains(name, "(*") { // cut the parameters off
			name = name[:at]
		}
		of[i] = whole[f.Name] | whole[name]
		for n := shortest; n <= min(longest, len(name)); n++ {
			of[i] |= begins[name[:n]]
		}
		if f.Kind == recording.KindKernel {
			of[i] |= inKernel
		}
	}
	return of
}
