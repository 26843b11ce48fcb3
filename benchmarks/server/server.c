// Loopback OpenAI-compatible stub: one thread, epoll, no dependencies.
// Build:  make -C benchmarks/server
// Run:    PORT=8399 LATENCY_MS=50 JITTER_MS=0 P429=0 P500=0 RETRY_AFTER=1 benchmarks/server/loopback-server
// PORT=0 takes a free port; the first line printed is the port.
// The knock before a run is counted as `knocks`, never as a duplicate; `span_s` begins with the first call after it, and `lead_s` is what lies between.
// POST /v1/chat/completions (also any path that ends with it), POST /task (promptfoo's simulated-user API), GET /v1/models, /stats, POST /reset
// /reset?latency_ms=..&jitter_ms=..&p429=..&p500=..&retry_after=..&seed=.. changes settings and zeroes counters.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAXFD 65536
typedef struct { int fd, busy, keep; uint32_t gen; char *in; size_t ilen, icap; char *out; size_t olen, ocap, opos; int role, status; } Conn;
static Conn conns[MAXFD];
static int ep;
static double latency_ms, jitter_ms, p429, p500, retry_after = 1;
static uint64_t rng = 88172645463325252ull, t_start;
static uint64_t n_req, n_ok, n_429, n_500, n_models, n_dup, n_conn, n_other, n_role[4], n_okrole[4], n_abort, n_bytes_in, n_stream, n_knock;
static int inflight, max_inflight, open_conns, max_conns;
static uint64_t first_knock_ns, first_req_ns, last_resp_ns;
static const char *role_name[4] = {"user-sim", "target", "judge", "other"};

static uint64_t now_ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
static double rnd(void) { rng ^= rng << 13; rng ^= rng >> 7; rng ^= rng << 17; return (rng >> 11) * (1.0 / 9007199254740992.0); }
static uint64_t hash64(const char *p, size_t n) { uint64_t h = 1469598103934665603ull; while (n >= 8) { uint64_t v; memcpy(&v, p, 8); h = (h ^ v) * 0x9E3779B97F4A7C15ull; h ^= h >> 29; p += 8; n -= 8; } while (n--) h = (h ^ (unsigned char)*p++) * 1099511628211ull; return h ? h : 1; }

// open-addressing set of body hashes, for duplicates
static uint64_t *set; static size_t set_cap, set_n;
static int set_add(uint64_t h) {
  if (set_n * 2 >= set_cap) { size_t oc = set_cap; uint64_t *o = set; set_cap = oc ? oc * 2 : 65536; set = calloc(set_cap, 8); set_n = 0; for (size_t i = 0; i < oc; i++) if (o[i]) set_add(o[i]); free(o); }
  size_t i = h & (set_cap - 1); while (set[i]) { if (set[i] == h) return 0; i = (i + 1) & (set_cap - 1); } set[i] = h; set_n++; return 1; }

// min-heap of timers
typedef struct { uint64_t due; int fd; uint32_t gen; } Timer;
static Timer *heap; static int hn, hcap;
static void heap_push(Timer t) { if (hn == hcap) { hcap = hcap ? hcap * 2 : 1024; heap = realloc(heap, hcap * sizeof(Timer)); } int i = hn++; while (i && heap[(i - 1) / 2].due > t.due) { heap[i] = heap[(i - 1) / 2]; i = (i - 1) / 2; } heap[i] = t; }
static Timer heap_pop(void) { Timer r = heap[0], l = heap[--hn]; int i = 0; for (;;) { int c = 2 * i + 1; if (c >= hn) break; if (c + 1 < hn && heap[c + 1].due < heap[c].due) c++; if (heap[c].due >= l.due) break; heap[i] = heap[c]; i = c; } heap[i] = l; return r; }

static void out_add(Conn *c, const char *p, size_t n) { if (c->olen + n > c->ocap) { c->ocap = (c->olen + n) * 2; c->out = realloc(c->out, c->ocap); } memcpy(c->out + c->olen, p, n); c->olen += n; }
static void respond(Conn *c, int st, const char *extra, const char *body, size_t n) {
  char h[512]; const char *r = st == 200 ? "OK" : st == 429 ? "Too Many Requests" : st == 404 ? "Not Found" : "Internal Server Error";
  int k = snprintf(h, sizeof h, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n%sContent-Length: %zu\r\n%s\r\n", st, r, extra, n, c->keep ? "" : "Connection: close\r\n");
  out_add(c, h, k); out_add(c, body, n); }
static void close_conn(Conn *c) { if (c->fd < 0) return; if (c->busy) { n_abort++; inflight--; c->busy = 0; } epoll_ctl(ep, EPOLL_CTL_DEL, c->fd, NULL); close(c->fd); c->fd = -1; c->gen++; c->ilen = c->olen = c->opos = 0; open_conns--; }
static void flush_out(Conn *c) {
  while (c->opos < c->olen) { ssize_t w = send(c->fd, c->out + c->opos, c->olen - c->opos, MSG_NOSIGNAL); if (w < 0) { if (errno == EAGAIN) { struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP, .data.fd = c->fd}; epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &e); return; } close_conn(c); return; } c->opos += w; }
  c->opos = c->olen = 0; if (!c->keep) close_conn(c); }

static char fmt_of[MAXFD][16]; static uint64_t body_hash_of[MAXFD]; static int stream_of[MAXFD];
static void finish(Conn *c) { // the timed part is over: write the chat completion
  char body[2048], content[1024]; uint64_t h = body_hash_of[c->fd]; int n;
  c->busy = 0; inflight--;
  if (c->status == 429) { char ex[96]; n_429++; snprintf(ex, sizeof ex, "Retry-After: %g\r\n", retry_after); const char *b = "{\"error\":{\"message\":\"Rate limit reached\",\"type\":\"rate_limit_error\",\"param\":null,\"code\":\"rate_limit_exceeded\"}}"; respond(c, 429, ex, b, strlen(b)); }
  else if (c->status == 500) { n_500++; const char *b = "{\"error\":{\"message\":\"Internal error\",\"type\":\"server_error\",\"param\":null,\"code\":null}}"; respond(c, 500, "", b, strlen(b)); }
  else {
    n_ok++; n_okrole[c->role]++;
    static const char *U = "Could you tell me more about item %08x and how it would work for my order? I am not sure that I follow the last part.";
    uint32_t k = (uint32_t)h; int sc = 1 + (int)(h % 5); char u[256]; snprintf(u, sizeof u, U, k); const char *f = fmt_of[c->fd]; // the model-name suffix picks the shape that a peer's parser wants
    if (c->role == 2) {
      if (!strcmp(f, "pyrit")) snprintf(content, sizeof content, "{\\\"score_value\\\": \\\"False\\\", \\\"description\\\": \\\"stub\\\", \\\"rationale\\\": \\\"The reply answers the question (%08x).\\\", \\\"metadata\\\": \\\"\\\"}", k);
      else if (!strcmp(f, "promptfoo")) snprintf(content, sizeof content, "{\\\"reason\\\": \\\"The reply answers the question (%08x).\\\", \\\"pass\\\": true, \\\"score\\\": 0.%d}", k, sc + 4);
      else snprintf(content, sizeof content, "{\\\"score\\\": %d, \\\"reason\\\": \\\"The reply answers the question (%08x).\\\"}", sc, k); }
    else if (c->role == 0) {
      if (!strcmp(f, "deepeval")) snprintf(content, sizeof content, "{\\\"simulated_input\\\": \\\"%s\\\"}", u);
      else if (!strcmp(f, "pyrit")) snprintf(content, sizeof content, "{\\\"next_message\\\": \\\"%s\\\", \\\"rationale\\\": \\\"stub\\\", \\\"last_response_summary\\\": \\\"stub\\\"}", u);
      else if (!strcmp(f, "azure")) snprintf(content, sizeof content, "{\\\"content\\\": \\\"%s\\\", \\\"role\\\": \\\"user\\\"}", u);
      else snprintf(content, sizeof content, "%s", u); }
    else snprintf(content, sizeof content, "Of course. For reference %08x, the order ships in two days, returns are free for thirty days, and I can open a ticket for you. Is there anything else that I can do?", (uint32_t)h);
    if (stream_of[c->fd]) { n_stream++;
      n = snprintf(body, sizeof body, "data: {\"id\":\"chatcmpl-%016lx\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"%s\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"%s\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", h, role_name[c->role], content);
    } else if (!strcmp(fmt_of[c->fd], "task")) n = snprintf(body, sizeof body, "{\"result\":\"%s\",\"tokenUsage\":{\"total\":150,\"prompt\":120,\"completion\":30}}", content);
    else
    n = snprintf(body, sizeof body, "{\"id\":\"chatcmpl-%016lx\",\"object\":\"chat.completion\",\"created\":1700000000,\"model\":\"%s\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"%s\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":120,\"completion_tokens\":30,\"total_tokens\":150},\"system_fingerprint\":\"stub\"}", h, role_name[c->role], content);
    respond(c, 200, "", body, n); }
  last_resp_ns = now_ns(); flush_out(c); }

static double qs(const char *l, const char *e, const char *k, double d) { size_t n = strlen(k); for (const char *p = l; p + n < e; p++) if ((p[-1] == '?' || p[-1] == '&') && !memcmp(p, k, n) && p[n] == '=') return atof(p + n + 1); return d; }
static void reset_counters(void) { n_req = n_ok = n_429 = n_500 = n_models = n_dup = n_conn = n_other = n_abort = n_bytes_in = n_stream = n_knock = 0; memset(n_role, 0, sizeof n_role); memset(n_okrole, 0, sizeof n_okrole); max_inflight = inflight; max_conns = open_conns; first_knock_ns = first_req_ns = last_resp_ns = 0; if (set) memset(set, 0, set_cap * 8); set_n = 0; t_start = now_ns(); }

static int try_request(Conn *c) { // 1 if a whole request was taken from the buffer
  char *he = memmem(c->in, c->ilen, "\r\n\r\n", 4); if (!he) return 0;
  size_t hl = he - c->in + 4, cl = 0; c->keep = 1; int expect = 0, chunked = 0;
  for (char *p = memchr(c->in, '\n', hl) + 1; p < he;) { char *e = memchr(p, '\n', c->in + hl - p);
    if (!strncasecmp(p, "content-length:", 15)) cl = strtoul(p + 15, NULL, 10);
    else if (!strncasecmp(p, "connection: close", 17)) c->keep = 0;
    else if (!strncasecmp(p, "expect:", 7)) expect = 1;
    else if (!strncasecmp(p, "transfer-encoding: chunked", 26)) chunked = 1;
    p = e + 1; }
  if (expect && c->ilen == hl) { send(c->fd, "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL); }
  char *body = c->in + hl; size_t total = hl + cl;
  if (chunked) { // gather chunks in place, only when the last one is here
    char *r = body, *end = c->in + c->ilen; size_t sum = 0; char *q = r; int done = 0;
    while (q < end) { char *nl = memmem(q, end - q, "\r\n", 2); if (!nl) break; size_t k = strtoul(q, NULL, 16); if (nl + 2 + k + 2 > end) break; q = nl + 2 + k + 2; if (!k) { done = 1; break; } }
    if (!done) return 0;
    size_t consumed = q - c->in; q = r; char *w = r; for (;;) { char *nl = memmem(q, end - q, "\r\n", 2); size_t k = strtoul(q, NULL, 16); if (!k) break; char *nq = nl + 2 + k + 2; memmove(w, nl + 2, k); w += k; sum += k; q = nq; }
    cl = sum; total = consumed; }
  if (c->ilen < total) return 0;
  char *le = memchr(c->in, '\r', hl); char *path = memchr(c->in, ' ', hl); path++;
  char *pe = memchr(path, ' ', le - path); char *qm = memchr(path, '?', pe - path); char *pp = qm ? qm : pe;
  int task = c->in[0] == 'P' && pp - path >= 5 && !memcmp(pp - 5, "/task", 5);
  if (task || (c->in[0] == 'P' && pp - path >= 17 && !memcmp(pp - 17, "/chat/completions", 17))) {
    n_req++; n_bytes_in += cl; if (++inflight > max_inflight) max_inflight = inflight;
    uint64_t h = hash64(body, cl); body_hash_of[c->fd] = h; int knock = memmem(body, cl, "Reply with the word ok", 22) != NULL; uint64_t *begun = knock ? &first_knock_ns : &first_req_ns;
    if (!*begun) *begun = now_ns();
    if (knock) n_knock++; else if (!set_add(h)) n_dup++;
    stream_of[c->fd] = memmem(body, cl, "\"stream\":true", 13) || memmem(body, cl, "\"stream\": true", 14);
    c->role = 3; fmt_of[c->fd][0] = 0; if (task) { c->role = 0; strcpy(fmt_of[c->fd], "task"); } char *m = memmem(body, cl, "\"model\"", 7);
    if (m && !task) { m += 7; while (m < body + cl && (*m == ' ' || *m == ':' || *m == '"')) m++; for (int i = 0; i < 3; i++) if ((size_t)(body + cl - m) >= strlen(role_name[i]) && !memcmp(m, role_name[i], strlen(role_name[i]))) { c->role = i; char *q = m + strlen(role_name[i]), *o = fmt_of[c->fd]; if (*q == '-') for (q++; *q != '"' && o < fmt_of[c->fd] + 15; q++) *o++ = *q; *o = 0; } }
    n_role[c->role]++; double u = rnd(); c->status = u < p429 ? 429 : u < p429 + p500 ? 500 : 200; c->busy = 1;
    double ms = latency_ms + (jitter_ms > 0 ? (2 * rnd() - 1) * jitter_ms : 0);
    memmove(c->in, c->in + total, c->ilen - total); c->ilen -= total;
    if (ms <= 0) finish(c); else heap_push((Timer){now_ns() + (uint64_t)(ms * 1e6), c->fd, c->gen});
    return 1; }
  char b[2048]; int n;
  if (pp - path >= 7 && !memcmp(pp - 7, "/models", 7)) { n_models++; n = snprintf(b, sizeof b, "{\"object\":\"list\",\"data\":[{\"id\":\"user-sim\",\"object\":\"model\",\"created\":1,\"owned_by\":\"stub\"},{\"id\":\"target\",\"object\":\"model\",\"created\":1,\"owned_by\":\"stub\"},{\"id\":\"judge\",\"object\":\"model\",\"created\":1,\"owned_by\":\"stub\"}]}"); respond(c, 200, "", b, n); }
  else if (pp - path >= 6 && (!memcmp(path, "/stats", 6) || !memcmp(path, "/reset", 6))) {
    struct rusage ru; getrusage(RUSAGE_SELF, &ru);
    n = snprintf(b, sizeof b, "{\"requests\":%lu,\"ok\":%lu,\"r429\":%lu,\"r500\":%lu,\"models\":%lu,\"duplicates\":%lu,\"unique\":%zu,\"aborted\":%lu,\"streamed\":%lu,\"inflight\":%d,\"max_inflight\":%d,\"connections\":%lu,\"max_connections\":%d,\"user_sim\":%lu,\"target\":%lu,\"judge\":%lu,\"other\":%lu,\"ok_user_sim\":%lu,\"ok_target\":%lu,\"ok_judge\":%lu,\"unrouted\":%lu,\"knocks\":%lu,\"bytes_in\":%lu,\"span_s\":%.6f,\"lead_s\":%.6f,\"latency_ms\":%g,\"p429\":%g,\"p500\":%g,\"server_cpu_s\":%.3f}\n",
      n_req, n_ok, n_429, n_500, n_models, n_dup, set_n, n_abort, n_stream, inflight, max_inflight, n_conn, max_conns, n_role[0], n_role[1], n_role[2], n_role[3], n_okrole[0], n_okrole[1], n_okrole[2], n_other, n_knock, n_bytes_in, first_req_ns && last_resp_ns > first_req_ns ? (last_resp_ns - first_req_ns) / 1e9 : 0.0, first_knock_ns && first_req_ns > first_knock_ns ? (first_req_ns - first_knock_ns) / 1e9 : 0.0, latency_ms, p429, p500,
      ru.ru_utime.tv_sec + ru.ru_stime.tv_sec + (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6);
    if (path[1] == 'r') { latency_ms = qs(path, pe, "latency_ms", latency_ms); jitter_ms = qs(path, pe, "jitter_ms", jitter_ms); p429 = qs(path, pe, "p429", p429); p500 = qs(path, pe, "p500", p500); retry_after = qs(path, pe, "retry_after", retry_after); double s = qs(path, pe, "seed", 0); if (s > 0) rng = 88172645463325252ull ^ ((uint64_t)s * 0x9E3779B97F4A7C15ull); reset_counters(); }
    respond(c, 200, "", b, n); }
  else { n_other++; fprintf(stderr, "unrouted: %.*s\n", (int)(le - c->in), c->in); n = snprintf(b, sizeof b, "{\"error\":{\"message\":\"not found\",\"type\":\"invalid_request_error\"}}"); respond(c, 404, "", b, n); }
  memmove(c->in, c->in + total, c->ilen - total); c->ilen -= total; flush_out(c); return 1; }

static void on_read(Conn *c) {
  for (;;) { if (c->icap - c->ilen < 65536) { c->icap = c->icap ? c->icap * 2 : 131072; c->in = realloc(c->in, c->icap); }
    ssize_t r = recv(c->fd, c->in + c->ilen, c->icap - c->ilen, 0);
    if (r < 0) { if (errno == EAGAIN) break; close_conn(c); return; } if (!r) { close_conn(c); return; }
    c->ilen += r; if ((size_t)r < 4096) break; }
  while (c->fd >= 0 && !c->busy && c->ilen && try_request(c)) {} }

static double envd(const char *k, double d) { const char *v = getenv(k); return v ? atof(v) : d; }
int main(void) {
  signal(SIGPIPE, SIG_IGN); for (int i = 0; i < MAXFD; i++) conns[i].fd = -1;
  struct rlimit rl = {MAXFD, MAXFD}; setrlimit(RLIMIT_NOFILE, &rl);
  latency_ms = envd("LATENCY_MS", 0); jitter_ms = envd("JITTER_MS", 0); p429 = envd("P429", 0); p500 = envd("P500", 0); retry_after = envd("RETRY_AFTER", 1); t_start = now_ns();
  int ls = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1; setsockopt(ls, SOL_SOCKET, SO_REUSEADDR, &one, 4);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((int)envd("PORT", 8399)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(ls, (void *)&a, sizeof a) || listen(ls, 4096)) { perror("bind"); return 1; }
  socklen_t al = sizeof a; getsockname(ls, (void *)&a, &al); printf("%d\n", ntohs(a.sin_port)); fflush(stdout);
  ep = epoll_create1(0); struct epoll_event ev = {.events = EPOLLIN, .data.fd = ls}, evs[1024]; epoll_ctl(ep, EPOLL_CTL_ADD, ls, &ev);
  for (;;) {
    struct timespec to, *tp = NULL; if (hn) { uint64_t n = now_ns(), d = heap[0].due > n ? heap[0].due - n : 0; to.tv_sec = d / 1000000000ull; to.tv_nsec = d % 1000000000ull; tp = &to; }
    int n = epoll_pwait2(ep, evs, 1024, tp, NULL);
    for (int i = 0; i < n; i++) { int fd = evs[i].data.fd;
      if (fd == ls) { int s; while ((s = accept4(ls, NULL, NULL, SOCK_NONBLOCK)) >= 0) { if (s >= MAXFD) { close(s); continue; } setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, 4); Conn *c = &conns[s]; c->fd = s; c->busy = 0; c->keep = 1; c->ilen = c->olen = c->opos = 0; n_conn++; if (++open_conns > max_conns) max_conns = open_conns; struct epoll_event e = {.events = EPOLLIN, .data.fd = s}; epoll_ctl(ep, EPOLL_CTL_ADD, s, &e); } continue; }
      Conn *c = &conns[fd]; if (c->fd < 0) continue;
      if (evs[i].events & (EPOLLHUP | EPOLLERR)) { close_conn(c); continue; }
      if (evs[i].events & EPOLLOUT) { struct epoll_event e = {.events = EPOLLIN, .data.fd = fd}; epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e); flush_out(c); if (c->fd < 0) continue; }
      if (evs[i].events & (EPOLLIN | EPOLLRDHUP)) on_read(c); }
    uint64_t t = now_ns(); while (hn && heap[0].due <= t) { Timer x = heap_pop(); Conn *c = &conns[x.fd]; if (c->fd >= 0 && c->gen == x.gen && c->busy) { finish(c); while (c->fd >= 0 && !c->busy && c->ilen && try_request(c)) {} } } } }
