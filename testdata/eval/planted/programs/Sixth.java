import java.io.*;
import java.text.*;
import java.util.*;
import java.util.concurrent.*;

/** A program for Java Flight Recorder. Usage: java -XX:StartFlightRecording... Sixth MODE */
public class Sixth {
	static volatile long sink;
	static String mode;

	static void groupRows() { Map<Integer, List<Integer>> m = new HashMap<>(); for (int i = 0; i < 5000; i++) m.computeIfAbsent(i * 31 % 97, k -> new ArrayList<>()).add(i); sink += m.size(); }
	static void sortRows() { Integer[] a = new Integer[2500]; for (int i = 0; i < a.length; i++) a[i] = i * 7919 % 5003; Arrays.sort(a, Comparator.reverseOrder()); sink += a[3]; }
	static void writeText() { StringBuilder b = new StringBuilder(); for (int i = 0; i < 4000; i++) b.append("row ").append(i).append('\n'); sink += b.length(); }
	static void scramble() { long h = 11; for (int i = 0; i < 250000; i++) h = h * 31 ^ (h >>> 7) + i; sink += h; }
	static void rest() { groupRows(); sortRows(); writeText(); scramble(); }

	static String buildCsv(int n) { String s = ""; for (int i = 0; i < n; i++) s += i + ",row " + i + "\n"; return s; }
	static void formatDates(int n) { for (int i = 0; i < n; i++) sink += new SimpleDateFormat("yyyy-MM-dd HH:mm:ss").format(new Date(i * 86400000L)).length(); }
	static Object roundTrip(Object o) throws Exception {
		ByteArrayOutputStream b = new ByteArrayOutputStream();
		try (ObjectOutputStream out = new ObjectOutputStream(b)) { out.writeObject(o); }
		return new ObjectInputStream(new ByteArrayInputStream(b.toByteArray())).readObject();
	}
	static final ArrayList<String> ORDER = new ArrayList<>();
	static { for (int i = 0; i < 400; i++) ORDER.add("line " + i); }

	static final Semaphore connections = new Semaphore(2);
	static void borrowConnection() throws Exception { connections.acquire(); }
	static void runQuery() throws Exception { borrowConnection(); try { Thread.sleep(9); } finally { connections.release(); } }

	static volatile boolean ready;
	static void awaitReady() throws Exception { while (!ready) Thread.sleep(1); ready = false; }

	static final Object stats = new Object();
	static void flushStats(FileOutputStream f) throws Exception { synchronized (stats) { f.write(new byte[200]); f.getFD().sync(); Thread.sleep(14); } }
	static void addStat() { synchronized (stats) { sink++; } }

	interface Body { void run(int n) throws Exception; }
	static List<Thread> all = new ArrayList<>();
	static void thread(String name, long end, Body b) {
		Thread t = new Thread(() -> { try { for (int n = 0; System.nanoTime() < end; n++) b.run(n); } catch (Exception e) { throw new RuntimeException(e); } }, name);
		t.start();
		all.add(t);
	}

	public static void main(String[] args) throws Exception {
		mode = args[0];
		long end = System.nanoTime() + 5_000_000_000L;
		File file = new File("stats.tmp");
		FileOutputStream f = new FileOutputStream(file);
		if (mode.equals("flush")) thread("stats-flusher", end, n -> { flushStats(f); Thread.sleep(20); });
		if (mode.equals("ready")) { thread("importer", end, n -> { awaitReady(); scramble(); }); thread("loader", end, n -> { Thread.sleep(70); rest(); ready = true; }); }
		for (int k = 0; k < (mode.equals("semaphore") ? 7 : 2); k++) thread("worker-" + k, end, n -> {
			if (mode.equals("csv")) sink += buildCsv(700).length();
			if (mode.equals("dates")) formatDates(250);
			if (mode.equals("copy")) for (int i = 0; i < 6; i++) sink += roundTrip(ORDER).hashCode();
			if (mode.equals("semaphore")) runQuery();
			if (mode.equals("flush")) addStat();
			rest();
			Thread.sleep(1);
		});
		for (Thread t : all) t.join(6000);
		file.delete();
		System.exit(0);
	}
}
