-- The functions with the largest self time.
SELECT function, sum(self_ps) AS self_ps, avg(duration_ps) AS mean_ps
FROM spans
GROUP BY function
ORDER BY self_ps DESC
