import java.util.*;
public class Fresh {
	static long sink;
	static int sumPrices(List<Integer> l) { int s = 0; for (int i = 0; i < l.size(); i++) s += l.get(i); return s; }
	static void fill(List<Integer> l, int n) { for (int i = 0; i < n; i++) l.add(i * 31 % 1009); }
	static int order(List<Integer> l) { ArrayList<Integer> a = new ArrayList<>(l); Collections.sort(a); return a.get(0); }
	static class IdSource { long last; synchronized long nextId() { try { Thread.sleep(4); } catch (InterruptedException e) {} return ++last; } }
	static void work(IdSource s) { long end = System.currentTimeMillis() + 4000; while (System.currentTimeMillis() < end) { long h = s.nextId(); for (int k = 0; k < 200000; k++) h = h * 31 + k; sink += h; } }
	public static void main(String[] a) throws Exception {
		if (a[0].equals("linked")) { long end = System.currentTimeMillis() + 4000; while (System.currentTimeMillis() < end) { List<Integer> l = new LinkedList<>(); fill(l, 3000); sink += sumPrices(l); for (int k = 0; k < 6; k++) sink += order(l); } }
		else { IdSource s = new IdSource(); List<Thread> ts = new ArrayList<>(); for (int k = 0; k < 8; k++) { Thread t = new Thread(() -> work(s), "client-" + k); t.start(); ts.add(t); } for (Thread t : ts) t.join(); }
		System.err.println(sink);
	}
}
