package main

import "slices"

// tell plays the story and returns the machine with what it recorded.
func tell() *machine {
	m := &machine{
		marking: []interval{{266 * ms, 291 * ms}, {668 * ms, 752 * ms}, {1096 * ms, 1121 * ms}},
		stops:   []interval{{291 * ms, 294 * ms}, {752 * ms, 781 * ms}, {1121 * ms, 1123 * ms}},
	}
	one := m.thread("worker 1", 4243, 2, true)
	two := m.thread("worker 2", 4244, 5, true)
	gc := m.thread("gc", 4245, 3, false)

	start(one)
	for _, at := range []int64{134, 183, 236, 312, 352, 404, 447} {
		order(one, at*ms, 5)
	}
	// The order with the voucher: every rule is tried on every line of a long
	// cart.
	order(one, 497*ms, 116)
	for _, at := range []int64{914, 961, 1010, 1061, 1127, 1179, 1236} {
		order(one, at*ms, 6)
	}

	for _, at := range []int64{8, 41, 73} {
		health(two, at*ms)
	}
	for _, at := range []int64{121, 168, 211, 262, 331, 377, 421, 480, 523, 566, 611, 672, 725, 806, 851, 893, 935} {
		order(two, at*ms, 4)
	}
	flush(two, 984*ms)
	for _, at := range []int64{1084, 1140, 1192, 1243} {
		order(two, at*ms, 5)
	}

	notice(m.thread("netpoll", 4246, 0, false), m.arrivals)
	begin(m.thread("checkout", pid, 1, true))
	for i := range m.marking {
		collect(gc, m.marking[i], m.stops[i])
	}
	return m
}

// The choices of busy calls: weights, and the calls below them.
var (
	readFile = mix(`
		4 os.(*File).Read;internal/poll.(*FD).Read;syscall.read;entry_SYSCALL_64;do_syscall_64;ksys_read;vfs_read;ext4_file_read_iter;copy_page_to_iter
		1 os.(*File).Read;internal/poll.(*FD).Read`)
	count = mix(`
		3 runtime.ReadMemStats;runtime.readmemstats_m
		2 runtime/metrics.Read
		1 -`)
	inflate = mix(`
		6 compress/flate.(*decompressor).huffmanBlock
		3 compress/flate.(*decompressor).huffmanBlock;compress/flate.(*dictDecoder).writeCopy
		2 hash/crc32.update;hash/crc32.ieeeCLMUL
		1 compress/flate.(*decompressor).huffSym`)
	decode = mix(`
		3 encoding/json.(*decodeState).value;encoding/json.(*decodeState).object
		3 encoding/json.(*decodeState).value;encoding/json.(*decodeState).object;encoding/json.(*decodeState).array;encoding/json.(*decodeState).value;encoding/json.(*decodeState).object;encoding/json.(*decodeState).literalStore
		4 encoding/json.(*decodeState).value;encoding/json.(*decodeState).object;encoding/json.(*decodeState).literalStore
		4 encoding/json.checkValid;encoding/json.stateInString
		2 encoding/json.(*decodeState).value;encoding/json.(*decodeState).object;reflect.Value.SetString
		2 encoding/json.(*decodeState).value;encoding/json.(*decodeState).object;encoding/json.unquote;runtime.slicebytetostring;runtime.mallocgc`)
	index = mix(`
		5 runtime.mapassign_faststr
		3 runtime.mapassign_faststr;runtime.growWork_faststr;runtime.evacuate_faststr
		3 runtime.mapassign_faststr;runtime.hashGrow;runtime.makeBucketArray;runtime.mallocgc
		2 shop/catalog.(*Product).key;strings.ToLower;runtime.mallocgc
		2 runtime.mapassign_faststr;runtime.memhash_faststr
		1 runtime.mallocgc;runtime.memclrNoHeapPointers;asm_exc_page_fault;exc_page_fault;handle_mm_fault;clear_page_erms`)
	network = mix(`
		3 internal/poll.(*FD).Read;syscall.read;entry_SYSCALL_64;do_syscall_64;ksys_read;vfs_read;sock_read_iter;tcp_recvmsg
		1 internal/poll.(*FD).Read;syscall.read;entry_SYSCALL_64`)
	respond = mix(`
		4 internal/poll.(*FD).Write;syscall.write;entry_SYSCALL_64;do_syscall_64;ksys_write;vfs_write;sock_write_iter;tcp_sendmsg;tcp_write_xmit;__ip_queue_xmit
		1 internal/poll.(*FD).Write;syscall.write;entry_SYSCALL_64;do_syscall_64;ksys_write;vfs_write;sock_write_iter;tcp_sendmsg;_copy_from_iter
		1 internal/poll.(*FD).Write`)
	headers = mix(`
		3 net/textproto.(*Reader).ReadMIMEHeader
		2 net/textproto.(*Reader).ReadMIMEHeader;net/textproto.canonicalMIMEHeaderKey
		1 net/textproto.(*Reader).ReadMIMEHeader;runtime.mallocgc
		1 net/url.parse`)
	scan = mix(`
		3 database/sql.(*Rows).Next;shop/pg.(*rows).Next
		4 database/sql.(*Rows).Scan;database/sql.convertAssignRows
		2 database/sql.(*Rows).Scan;database/sql.convertAssignRows;strconv.ParseInt
		3 database/sql.(*Rows).Scan;database/sql.convertAssignRows;runtime.mallocgc
		1 database/sql.(*Rows).Next;shop/pg.(*rows).Next;bufio.(*Reader).Read;runtime.memmove`)
	match = mix(`
		6 regexp.(*Regexp).MatchString;regexp.(*Regexp).backtrack;regexp.(*bitState).shouldVisit
		7 regexp.(*Regexp).MatchString;regexp.(*Regexp).backtrack
		3 regexp.(*Regexp).MatchString;regexp.(*Regexp).backtrack;regexp.(*inputString).step
		2 regexp.(*Regexp).MatchString;regexp.(*Regexp).backtrack;regexp.(*bitState).push;runtime.growslice;runtime.mallocgc`)
	lower = mix(`
		3 strings.ToLower
		3 strings.ToLower;strings.(*Builder).Grow;runtime.mallocgc
		2 strings.ToLower;unicode.ToLower
		1 strings.ToLower;strings.(*Builder).Grow;runtime.mallocgc;runtime.memclrNoHeapPointers;asm_exc_page_fault;exc_page_fault;handle_mm_fault;clear_page_erms`)
	compile = mix(`
		3 regexp/syntax.(*parser).parseClass
		3 regexp/syntax.(*compiler).comp;runtime.mallocgc
		3 regexp/syntax.Parse
		2 regexp/syntax.(*Regexp).Simplify;runtime.mallocgc
		2 regexp.onePassCopy;runtime.growslice;runtime.mallocgc`)
	discount = mix(`
		4 shop/pricing.(*Money).Mul;math/big.(*Int).Mul;math/big.nat.mul;math/big.mulAddVWW
		3 shop/pricing.(*Money).Mul;math/big.(*Int).Mul;math/big.nat.make;runtime.mallocgc
		2 shop/pricing.roundHalfEven
		2 sort.Sort;sort.insertionSort;shop/pricing.byPriority.Less
		1 -`)
	seal = mix(`
		6 crypto/tls.(*halfConn).encrypt;crypto/aes.gcmAesEnc
		2 crypto/tls.(*halfConn).encrypt;crypto/aes.gcmAesData
		1 crypto/tls.(*halfConn).encrypt`)
	signing = mix(`
		8 EVP_DigestSign;ECDSA_sign;ecp_nistz256_point_mul;ecp_nistz256_mul_mont
		3 EVP_DigestSign;ECDSA_sign;ecp_nistz256_point_mul;ecp_nistz256_sqr_mont
		2 EVP_DigestSign;ECDSA_sign;bn_mod_inverse
		1 EVP_DigestSign;malloc
		1 EVP_DigestInit_ex;EVP_MD_fetch;CRYPTO_THREAD_read_lock
		1 EVP_DigestInit_ex;memcpy`)
	encode = mix(`
		4 encoding/json.structEncoder.encode;encoding/json.appendString
		3 encoding/json.structEncoder.encode;encoding/json.arrayEncoder.encode;encoding/json.structEncoder.encode;encoding/json.floatEncoder.encode;strconv.AppendFloat
		2 encoding/json.structEncoder.encode;reflect.Value.Field
		2 encoding/json.structEncoder.encode;encoding/json.arrayEncoder.encode;encoding/json.structEncoder.encode;encoding/json.appendString;runtime.growslice;runtime.mallocgc`)
	deflate = mix(`
		7 compress/flate.(*compressor).deflate;compress/flate.(*compressor).findMatch
		3 compress/flate.(*compressor).deflate
		3 compress/flate.(*compressor).writeBlock;compress/flate.(*huffmanBitWriter).writeTokens
		1 compress/flate.(*compressor).fillDeflate;runtime.memmove
		1 hash/crc32.update;hash/crc32.ieeeCLMUL`)
	drain = mix(`
		8 runtime.scanobject
		5 runtime.scanobject;runtime.greyobject
		4 runtime.scanobject;runtime.findObject;runtime.spanOf
		3 runtime.scanobject;runtime.greyobject;runtime.markBits.setMarked
		2 runtime.gcWork.balance
		2 runtime.markroot;runtime.markrootBlock;runtime.scanblock
		1 runtime.markroot;runtime.scanstack;runtime.scanframeworker`)
	stopped = mix(`
		5 runtime.gcMarkTermination;runtime.gcMark;runtime.markroot;runtime.scanstack;runtime.scanframeworker
		3 runtime.gcMarkTermination;runtime.gcSweep
		4 runtime.gcMarkTermination;runtime.gcFlushBgCredit
		3 runtime.gcMarkTermination;runtime.flushallmcaches;runtime.(*mcache).releaseAll`)
	sweep = mix(`
		4 runtime.sweepone;runtime.(*mspan).sweep
		2 runtime.sweepone;runtime.(*mspan).sweep;runtime.(*mheap).freeSpan
		3 runtime.(*pageAlloc).scavenge;runtime.sysUnused;runtime.madvise;entry_SYSCALL_64;do_syscall_64;__x64_sys_madvise;zap_page_range_single;unmap_page_range`)
	ready = mix(`
		5 runtime.netpoll;runtime.epollwait;entry_SYSCALL_64;do_syscall_64;do_epoll_wait;ep_poll
		2 runtime.netpoll
		2 runtime.netpoll;runtime.netpollready;runtime.goready
		1 runtime.netpoll;runtime.epollwait;entry_SYSCALL_64;do_syscall_64;do_epoll_wait;ep_send_events`)
)

// begin is the process's first thread: it reads the configuration, then collects metrics
// ten times a second.
func begin(t *thread) {
	t.in("runtime.main;main.main", func() {
		t.in("shop/config.Load", func() {
			t.busy(2*ms, readFile)
			t.in("encoding/json.(*Decoder).Decode", func() { t.busy(3*ms, decode) })
		})
		for at := 100 * int64(ms); at < length; at += 100 * ms {
			t.until(at)
			t.in("shop/metrics.(*Gauges).read", func() { t.busy(1200*us, count) })
		}
	})
}

// start gets the service ready: it reads the catalogue and compiles the rules.
func start(t *thread) {
	t.until(4 * ms)
	t.in("shop/catalog.(*Loader).run", func() {
		t.in("shop/catalog.Open", func() {
			t.busy(7*ms, readFile)
			t.in("compress/gzip.(*Reader).Read;compress/flate.(*decompressor).Read", func() { t.busy(26*ms, inflate) })
			t.in("encoding/json.(*Decoder).Decode", func() { t.busy(34*ms, decode) })
			t.in("shop/catalog.(*Index).Build", func() { t.busy(21*ms, index) })
		})
		t.in("shop/pricing.LoadRules", func() {
			t.in("regexp.MustCompile", func() { t.busy(15*ms, compile) })
		})
	})
}

// notice is the network poller, which wakes up for each request.
func notice(t *thread, arrivals []int64) {
	slices.Sort(arrivals)
	for _, at := range arrivals {
		t.until(at - 700*us)
		t.in("runtime.mstart;runtime.findRunnable", func() { t.busy(900*us, ready) })
	}
}

// health is a request with next to no cost.
func health(t *thread, at int64) {
	t.m.arrivals = append(t.m.arrivals, at)
	t.until(at)
	t.in("net/http.(*conn).serve", func() {
		t.in("net/http.(*conn).readRequest", func() { t.busy(500*us, headers) })
		t.in("net/http.serverHandler.ServeHTTP;shop/checkout.(*Server).Health", func() { t.busy(1*ms, respond) })
	})
}

// order is a request to buy a cart with a number of lines.
func order(t *thread, at int64, lines int) {
	if at > t.now {
		t.m.arrivals = append(t.m.arrivals, at)
	}
	t.until(at)
	t.in("net/http.(*conn).serve", func() {
		t.in("net/http.(*conn).readRequest", func() {
			t.busy(900*us, network)
			t.busy(900*us, headers)
		})
		t.in("net/http.serverHandler.ServeHTTP;shop/checkout.(*Server).PlaceOrder", func() {
			t.in("shop/checkout.decodeCart;encoding/json.(*Decoder).Decode", func() { t.busy(2*ms+int64(lines)*60*us, decode) })
			load(t, lines)
			price(t, lines)
			reserve(t)
			t.in("shop/payment.(*Signer).Sign;runtime.cgocall", func() { t.busy(4*ms, signing) })
			t.in("shop/checkout.writeReceipt", func() {
				t.in("encoding/json.Marshal", func() { t.busy(1800*us, encode) })
				t.in("compress/gzip.(*Writer).Write", func() { t.busy(1500*us, deflate) })
				t.in("net/http.(*response).Write", func() { t.busy(900*us, respond) })
			})
		})
	})
}

// load queries the database for the cart's products; it mostly waits.
func load(t *thread, lines int) {
	t.in("shop/cart.(*Store).Load", func() {
		t.in("database/sql.(*DB).QueryContext;shop/pg.(*stmt).Query", func() { t.busy(700*us, respond) })
		t.wait(5*ms + int64(lines)*50*us)
		t.in("database/sql.(*DB).QueryContext;shop/pg.(*stmt).Query", func() { t.busy(500*us, network) })
		t.busy(2*ms+int64(lines)*70*us, scan)
	})
}

// price computes the price of every line. It tries the rules one by one, which takes long
// for carts with many lines.
func price(t *thread, lines int) {
	t.in("shop/pricing.(*Engine).PriceCart", func() {
		for range lines {
			t.in("shop/pricing.(*Engine).priceLine", func() {
				t.in("shop/pricing.(*Rule).matches", func() {
					t.busy(500*us, lower)
					t.busy(1700*us, match)
				})
				t.in("shop/pricing.(*Rule).apply", func() { t.busy(500*us, discount) })
			})
		}
	})
}

// reserve asks another service to reserve the goods: encryption, and waiting.
func reserve(t *thread) {
	t.in("shop/stock.(*Client).Reserve", func() {
		t.in("crypto/tls.(*Conn).Write", func() {
			t.busy(1100*us, seal)
			t.busy(600*us, respond)
		})
		t.wait(4 * ms)
		t.in("crypto/tls.(*Conn).Read", func() { t.busy(600*us, network) })
	})
}

// flush sends the metrics of the last second.
func flush(t *thread, at int64) {
	t.until(at)
	t.in("shop/metrics.(*Exporter).loop;shop/metrics.(*Exporter).flush", func() {
		t.in("encoding/json.Marshal", func() { t.busy(14*ms, encode) })
		t.in("compress/gzip.(*Writer).Write", func() { t.busy(44*ms, deflate) })
		t.in("crypto/tls.(*Conn).Write", func() {
			t.busy(5*ms, seal)
			t.busy(2*ms, respond)
		})
	})
}

// collect is one round of the garbage collector.
func collect(t *thread, mark, stop interval) {
	t.until(mark.from)
	t.in("runtime.gcBgMarkWorker", func() {
		t.in("runtime.gcDrain", func() {
			for t.now < mark.to-2*ms {
				t.busy(min(12*ms, mark.to-t.now), drain)
			}
		})
		t.until(stop.from)
		for t.now < stop.to-1*ms {
			t.busy(min(6*ms, stop.to-t.now), stopped)
		}
	})
	t.until(stop.to)
	// Sweeping goes on in the background, a little at a time.
	n := (stop.to - stop.from) / (3 * ms)
	t.in("runtime.bgsweep", func() {
		for range n + 2 {
			t.wait(5 * ms)
			t.busy(2500*us, sweep)
		}
	})
}
