/** When an operator is to look at a deployment. */
export interface Alert {
  readonly name: string
  /** Expression of Prometheus. */
  readonly when: string
  /** How long it must hold. */
  readonly minutes: number
  /** `page`: now. `ticket`: in working hours. */
  readonly severity: 'page' | 'ticket'
  readonly summary: string
  /** What to do. */
  readonly next: string
}

/** A test compares the names of metrics with those of the server. */
export const ALERTS: readonly Alert[] = [
  {
    name: 'LandpassDown',
    when: 'up{job="landpass"} == 0',
    ...{ minutes: 1, severity: 'page' },
    summary: 'A server does not answer.',
    next: 'Look at the last lines of its log and at /health/live. Its service manager should have started it again.',
  },
  {
    name: 'LandpassFails',
    when: 'sum by (instance, group) (rate(landpass_http_requests_total{status="5xx"}[5m])) > 0.1',
    ...{ minutes: 5, severity: 'page' },
    summary: 'A server fails in a way that it does not know.',
    next: 'The log has each failure with its cause, as level 50.',
  },
  {
    name: 'LandpassUnavailable',
    when: 'sum by (instance) (rate(landpass_http_requests_total{status="503"}[5m])) > 0.05 * sum by (instance) (rate(landpass_http_requests_total[5m]))',
    ...{ minutes: 5, severity: 'page' },
    summary: 'More than one request in twenty is answered with 503.',
    next: '/health/ready says what is missing: mostly the database. server_busy instead: add servers.',
  },
  {
    name: 'LandpassSlow',
    when: 'histogram_quantile(0.99, sum by (instance, le) (rate(landpass_http_request_duration_seconds_bucket[5m]))) > 1',
    ...{ minutes: 10, severity: 'ticket' },
    summary: 'One answer in a hundred takes more than a second.',
    next: 'Compare the load of the processor and landpass_database_connections_waiting.',
  },
  {
    name: 'LandpassEventLoopBlocked',
    when: 'nodejs_eventloop_lag_p99_seconds{job="landpass"} > 0.25',
    ...{ minutes: 10, severity: 'ticket' },
    summary: 'The event loop of a server is blocked for a quarter of a second.',
    next: 'The processor is busy, or memory is short: add a server, or lower READ_COST_PER_MINUTE.',
  },
  {
    name: 'LandpassSheds',
    when: 'rate(landpass_requests_shed_total[5m]) > 1',
    ...{ minutes: 5, severity: 'page' },
    summary: 'Requests are refused because too many wait.',
    next: 'Add a server. If one address sends them all, block it at the proxy.',
  },
  {
    name: 'LandpassDatabaseDown',
    when: 'min by (instance) (landpass_database_up) == 0',
    ...{ minutes: 2, severity: 'page' },
    summary: 'The database does not answer, or refuses to write.',
    next: '/health/ready says why. Land is answered from memory meanwhile; claims are not.',
  },
  {
    name: 'LandpassDatabaseQueue',
    when: 'landpass_database_connections_waiting > 0',
    ...{ minutes: 5, severity: 'ticket' },
    summary: 'Queries wait for a database connection.',
    next: 'Look for slow statements in PostgreSQL, then raise DATABASE_POOL_SIZE.',
  },
  {
    name: 'LandpassFewFilesLeft',
    when: 'process_open_fds{job="landpass"} > 0.8 * process_max_fds{job="landpass"}',
    ...{ minutes: 5, severity: 'ticket' },
    summary: 'A server is near its limit of open files.',
    next: 'Raise the limit (LimitNOFILE) above CONNECTIONS_MAX.',
  },
  {
    name: 'LandpassChainOld',
    when: 'max by (instance) (landpass_chain_following) == 1 and max by (instance) (landpass_chain_block_age_seconds) > 300',
    ...{ minutes: 5, severity: 'page' },
    summary: 'The land is older than five minutes.',
    next: 'GET /v2/chain says why. With CHAIN_HEAD=finalized raise the limit of this rule to 30 minutes.',
  },
  {
    name: 'LandpassChainNodeAvoided',
    when: 'landpass_chain_node_usable == 0',
    ...{ minutes: 30, severity: 'ticket' },
    summary: 'A node of the chain is not asked any more.',
    next: 'The log says what it answered. Replace it in CHAIN_RPC_URLS.',
  },
  {
    name: 'LandpassChainDiffers',
    when: 'increase(landpass_chain_differences_total[1h]) > 0',
    ...{ minutes: 0, severity: 'page' },
    summary: 'The land is not what the contracts say.',
    next: 'docs/chain-check.md says what the server does by itself, and what is left to do.',
  },
  {
    name: 'LandpassOffersOld',
    when: 'max by (instance) (landpass_listings_age_seconds) > 1800 or max by (instance) (landpass_rentals_age_seconds) > 1800',
    ...{ minutes: 5, severity: 'ticket' },
    summary: 'Offers that are signed off the chain are older than half an hour.',
    next: 'GET /v2/chain says why the marketplace server or the rentals server is not read.',
  },
  {
    name: 'LandpassIssuerRefuses',
    when: 'sum by (instance, call) (rate(landpass_issuer_calls_total{result=~"401|403|429|timeout|unreachable"}[10m])) > 0.1 * sum by (instance, call) (rate(landpass_issuer_calls_total[10m]))',
    ...{ minutes: 10, severity: 'page' },
    summary: 'The issuer of tokens refuses calls, or does not answer.',
    next: '401 and 403: the credentials; 429: lower ISSUER_CALLS_PER_SECOND. Claims wait meanwhile, and none is lost.',
  },
  {
    name: 'LandpassEventsHeld',
    when: 'max by (instance) (landpass_held_events) > 0',
    ...{ minutes: 0, severity: 'page' },
    summary: 'Claims of an event wait because the issuer contradicts itself.',
    next: 'docs/attendance/operators.md, "Held events".',
  },
  {
    name: 'LandpassPresenceUnknown',
    when: 'sum by (provider) (rate(landpass_presence_answers_total{result="unknown"}[5m])) > 0.2 * sum by (provider) (rate(landpass_presence_answers_total[5m]))',
    ...{ minutes: 5, severity: 'page' },
    summary: 'A presence provider cannot say where players are.',
    next: 'Players cannot claim without it. Look at its address in PRESENCE_PROVIDERS.',
  },
  {
    name: 'LandpassDatabaseWorkerDown',
    when: 'max by (instance, node) (landpass_database_worker_up) == 0',
    ...{ minutes: 1, severity: 'page' },
    summary: 'A node of a distributed database does not answer.',
    next: 'Claims of its events wait. docs/operate/growing.md, "A database of several machines".',
  },
]
