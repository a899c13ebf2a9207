/* Stands in for OpenMP's header: eflomal is built with one thread, so that a seed gives the same links every time. */
static inline void omp_set_nested(int nested) { (void)nested; }
