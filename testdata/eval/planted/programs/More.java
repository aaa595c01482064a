import java.io.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;

/** A program for Java Flight Recorder. Usage: java -XX:StartFlightRecording... More MODE */
public class More {
	static volatile long sink;
	static final Pattern NAME = Pattern.compile("([a-z]+[0-9]*)+!");

	static void countItems() { Map<String, Integer> m = new HashMap<>(); for (int i = 0; i < 3000; i++) m.merge("k" + i % 211, 1, Integer::sum); sink += m.size(); }
	static void orderItems() { int[] a = new Random(3).ints(4000).toArray(); Arrays.sort(a); sink += a[9]; }
	static void joinText() { StringBuilder b = new StringBuilder(); for (int i = 0; i < 3500; i++) b.append(i * 17).append(';'); sink += b.length(); }
	static void mixBits() { long h = 5; for (int i = 0; i < 300000; i++) h = h * 33 + (h >>> 5) + i; sink += h; }
	static void rest() { countItems(); orderItems(); joinText(); mixBits(); }
	static void validateName(String s) { sink += NAME.matcher(s).matches() ? 1 : 0; }
	static int parseAge(String s, int depth) { if (depth > 0) return parseAge(s, depth - 1); try { return Integer.parseInt(s); } catch (NumberFormatException e) { return -1; } }
	static void appendAudit(FileOutputStream f, int n) throws IOException { f.write(("audit " + n + "\n").getBytes()); f.getFD().sync(); }
	static String fetchRemote(int n) throws InterruptedException { Thread.sleep(40); return "page " + n; }

	static void pool() throws Exception {
		ExecutorService few = Executors.newFixedThreadPool(2, r -> new Thread(r, "fetcher"));
		long end = System.nanoTime() + 6_000_000_000L;
		List<Thread> all = new ArrayList<>();
		for (int k = 0; k < 4; k++) {
			Thread t = new Thread(() -> {
				try { while (System.nanoTime() < end) { few.submit(() -> fetchRemote(7)).get(); mixBits(); } } catch (Exception e) { throw new RuntimeException(e); }
			}, "request-" + k);
			t.start();
			all.add(t);
		}
		for (Thread t : all) t.join();
		few.shutdown();
	}

	public static void main(String[] args) throws Exception {
		String mode = args[0];
		if (mode.equals("pool")) { pool(); return; }
		long end = System.nanoTime() + 6_000_000_000L;
		List<Thread> all = new ArrayList<>();
		File audit = new File("audit.tmp");
		FileOutputStream f = new FileOutputStream(audit);
		for (int k = 0; k < 2; k++) {
			Thread t = new Thread(() -> {
				try {
					for (int n = 0; System.nanoTime() < end; n++) {
						if (mode.equals("regex")) for (int i = 0; i < 2; i++) validateName("averylongname12andmore" + n % 10 + "?");
						if (mode.equals("throw")) for (int i = 0; i < 700; i++) sink += parseAge("n/a", 40);
						if (mode.equals("audit")) for (int i = 0; i < 4; i++) appendAudit(f, n);
						rest();
						Thread.sleep(1);
					}
				} catch (Exception e) { throw new RuntimeException(e); }
			}, "request-" + k);
			t.start();
			all.add(t);
		}
		for (Thread t : all) t.join();
		audit.delete();
	}
}
