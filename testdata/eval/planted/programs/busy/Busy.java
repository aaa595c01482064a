import java.util.*;
import java.util.concurrent.*;

/** Healthy programs for Flight Recorder: Busy MODE. Nothing is planted. */
public class Busy {
    static volatile long sink;

    static void store() throws Exception {
        var map = new ConcurrentHashMap<String, byte[]>();
        var pool = Executors.newFixedThreadPool(3);
        for (int t = 0; t < 3; t++) {
            int id = t;
            pool.submit(() -> {
                var r = new Random(id);
                for (long end = System.nanoTime() + 5_000_000_000L; System.nanoTime() < end; ) {
                    String k = "key" + r.nextInt(20000);
                    if (r.nextInt(4) == 0) map.put(k, new byte[64 + r.nextInt(64)]);
                    else { byte[] v = map.get(k); if (v != null) sink += checksum(v); }
                }
            });
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    static long checksum(byte[] v) { long h = 7; for (int k = 0; k < 6; k++) for (byte b : v) h = h * 31 + b; return h; }

    static void blur() {
        int w = 320;
        float[] a = new float[w * w], b = new float[w * w];
        for (long end = System.nanoTime() + 5_000_000_000L; System.nanoTime() < end; ) {
            horizontal(a, b, w);
            vertical(b, a, w);
            contrast(a);
        }
        sink += (long) a[5];
    }

    static void horizontal(float[] a, float[] b, int w) { for (int y = 0; y < w; y++) for (int x = 2; x < w - 2; x++) { int i = y * w + x; b[i] = (a[i - 2] + a[i - 1] + a[i] + a[i + 1] + a[i + 2]) / 5 + x % 7; } }

    static void vertical(float[] a, float[] b, int w) { for (int y = 2; y < w - 2; y++) for (int x = 0; x < w; x++) { int i = y * w + x; b[i] = (a[i - 2 * w] + a[i - w] + a[i] + a[i + w] + a[i + 2 * w]) / 5; } }

    static void contrast(float[] a) { for (int k = 0; k < 2; k++) for (int i = 0; i < a.length; i++) a[i] = a[i] / (1 + Math.abs(a[i])); }

    public static void main(String[] args) throws Exception { if (args[0].equals("store")) store(); else blur(); }
}
