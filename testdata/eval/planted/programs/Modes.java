import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

/** A program for Java Flight Recorder. Usage: java -XX:StartFlightRecording... Modes MODE */
public class Modes {
	static final Object table = new Object();
	static volatile long sink;
	static final List<byte[]> kept = new ArrayList<>();

	static void spin(long us) { long t = System.nanoTime(), n = 0; while (System.nanoTime() - t < us * 1000) for (int i = 0; i < 100; i++) n += i * n; sink = n; }
	static void reindex() { synchronized (table) { spin(30000); } }
	static void readTable() { synchronized (table) { spin(300); } }
	static long distance(String a, String b) { int[][] d = new int[a.length() + 1][b.length() + 1]; for (int i = 0; i <= a.length(); i++) for (int j = 0; j <= b.length(); j++) d[i][j] = i == 0 ? j : j == 0 ? i : Math.min(Math.min(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1)); return d[a.length()][b.length()]; }
	static void sortNumbers() { int[] a = new Random(7).ints(4000).toArray(); Arrays.sort(a); sink += a[17]; }
	static void buildText() { StringBuilder b = new StringBuilder(); for (int i = 0; i < 4000; i++) b.append(i * 31).append(' '); sink += b.length(); }
	static void countWords() { Map<String, Integer> m = new TreeMap<>(); for (int i = 0; i < 2500; i++) m.merge("w" + i % 301, 1, Integer::sum); sink += m.size(); }
	static void hash() { long h = 7; for (int i = 0; i < 400000; i++) h = h * 31 + (h >>> 7) + i; sink += h; }
	static void mix() { sortNumbers(); buildText(); countWords(); hash(); }
	static void loadImages() { for (int i = 0; i < 40; i++) { kept.add(new byte[60000]); if (kept.size() > 700) kept.remove(0); } for (int i = 0; i < 3000; i++) sink += new ArrayList<>(List.of(i, i + 1)).size(); }

	public static void main(String[] args) throws Exception {
		String mode = args[0];
		long end = System.nanoTime() + 5_000_000_000L;
		List<Thread> all = new ArrayList<>();
		for (int n = 0; n < 4; n++) {
			int k = n;
			Thread t = new Thread(() -> {
				while (System.nanoTime() < end) {
					if (mode.equals("lock")) { if (k == 0) { reindex(); } else readTable(); }
					else if (mode.equals("distance")) { for (int i = 0; i < 20; i++) sink += distance("the text that was typed " + i, "a text that was meant to be typed"); if (k == 0) mix(); }
					else if (mode.equals("gc")) { synchronized (kept) { loadImages(); } }
					else mix();
					try { Thread.sleep(2); } catch (InterruptedException e) { return; }
				}
			}, "worker-" + n);
			t.start();
			all.add(t);
		}
		for (Thread t : all) t.join();
	}
}
