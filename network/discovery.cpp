// SPDX-License-Identifier: Apache-2.0
#include "network/discovery.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <stdexcept>

namespace tutti::network {
namespace {

// A packet: magic 4, version 1, kind 1, port 2 (greeting) or number of links 2 (report), address of
// the origin 8, sequence 4, IP 4, MAC 6, 2 unused, digest 8, then links of 12: port 2, there 2,
// address 8; at the end the check, 8.
constexpr std::uint8_t magic[4] = {'T', 'U', 'T', 'D'};
constexpr std::uint8_t version = 1, greets = 1, reports = 2;
constexpr std::size_t head_bytes = 40, link_bytes = 12, check_bytes = 8,
                      most_links = discoverer::most_neighbours;
static_assert(head_bytes + link_bytes * most_links + check_bytes <= 1400);
// A node remembers the reports of so many, so that a flood of invented ones ends somewhere.
constexpr std::size_t most_nodes = 4096;

std::uint64_t check_of(std::span<const std::uint8_t> bytes, const tutti_net_key& key) {
  tutti_net_siphash s;
  tutti_net_sip_begin(&s, &key);
  for (std::size_t at = 0; at < bytes.size(); at += 4)
    tutti_net_sip_word(&s, tutti_net_get32(bytes.data() + at));
  return tutti_net_sip_end(&s);
}

// Adjacent nodes, each once.
using graph = std::vector<std::vector<rank_t>>;

std::vector<unsigned> distances(const graph& g, rank_t from) {
  std::vector<unsigned> far(g.size(), ~0u);
  std::vector<rank_t> next{from};
  far[from] = 0;
  for (std::size_t i = 0; i < next.size(); ++i)
    for (const rank_t to : g[next[i]])
      if (far[to] == ~0u) {
        far[to] = far[next[i]] + 1;
        next.push_back(to);
      }
  return far;
}

// The node from which the farthest one is nearest; the first of several.
rank_t centre_of(const graph& g) {
  rank_t best = 0;
  unsigned least = ~0u;
  for (rank_t v = 0; v < g.size(); ++v) {
    const auto far = distances(g, v);
    const unsigned most = *std::ranges::max_element(far);
    if (most >= least) continue;
    least = most;
    best = v;
  }
  return best;
}

// The ranks of the vertices of a ring, which begins at vertex 0, or nothing if it is none.
std::optional<std::vector<rank_t>> along_ring(const graph& g) {
  const auto n = static_cast<rank_t>(g.size());
  if (n < 3) return {};
  for (const auto& to : g)
    if (to.size() != 2) return {};
  std::vector<rank_t> order{0};
  for (rank_t at = g[0][0], before = 0; at != 0;) {
    order.push_back(at);
    const rank_t next = g[at][0] == before ? g[at][1] : g[at][0];
    before = at;
    at = next;
  }
  if (order.size() != n) return {};
  return order;
}

// The vertices in the order in which their numbers are the corners of a hypercube.
std::optional<std::vector<rank_t>> along_cube(const graph& g) {
  const auto n = static_cast<rank_t>(g.size());
  if (n < 2 || !std::has_single_bit(n)) return {};
  const auto rounds = static_cast<std::size_t>(std::bit_width(n) - 1);
  for (const auto& to : g)
    if (to.size() != rounds) return {};
  const auto far = distances(g, 0);
  std::vector<rank_t> by_distance(n), corner(n, 0), order(n, n);
  for (rank_t v = 0; v < n; ++v) by_distance[v] = v;
  std::ranges::stable_sort(by_distance, {}, [&](rank_t v) { return far[v]; });
  for (std::size_t i = 0; i < rounds; ++i) corner[g[0][i]] = rank_t{1} << i;
  for (const rank_t v : by_distance) {
    if (far[v] > 1)
      for (const rank_t to : g[v])
        if (far[to] + 1 == far[v]) corner[v] |= corner[to];
    if (corner[v] >= n || order[corner[v]] != n) return {};
    order[corner[v]] = v;
  }
  for (rank_t v = 0; v < n; ++v)
    for (const rank_t to : g[v])
      if (!std::has_single_bit(corner[v] ^ corner[to])) return {};
  return order;
}

// A tree of the shape that the network has: breadth first from the root, which has rank 0.
struct shaped_tree {
  std::vector<rank_t> order, parent;
};
shaped_tree tree_from(const graph& g, rank_t root) {
  shaped_tree t{{root}, {0}};
  std::set<rank_t> seen{root};
  for (std::size_t i = 0; i < t.order.size(); ++i)
    for (const rank_t to : g[t.order[i]])
      if (seen.insert(to).second) {
        t.order.push_back(to);
        t.parent.push_back(static_cast<rank_t>(i));
      }
  return t;
}

tutti_net_table table_of(const shaped_tree& tree, rank_t rank) {
  const auto n = static_cast<rank_t>(tree.order.size());
  tutti_net_table t = detail::empty_table(TUTTI_NET_TREE, n, rank);
  std::vector<rank_t> below;
  for (rank_t r = 1; r < n; ++r)
    if (tree.parent[r] == rank) below.push_back(r);
  t.role = rank == 0 ? 0 : below.empty() ? 2 : 1;
  t.rows = rank == 0 ? 1 : 2;
  const std::size_t down = rank == 0 ? 0 : 1;
  t.row[0].need = 1;
  for (const rank_t r : below) t.row[0].need |= detail::bit_of(t.in, t.ins, r, TUTTI_NET_ARRIVE, 0);
  if (rank != 0) {
    t.row[0].send = detail::bit_of(t.out, t.outs, tree.parent[rank], TUTTI_NET_ARRIVE, 0);
    t.row[1].need = detail::bit_of(t.in, t.ins, tree.parent[rank], TUTTI_NET_RELEASE, 1);
    t.row[1].replace = t.row[1].need;
  }
  t.row[down].send |= 1;
  for (const rank_t r : below)
    t.row[down].send |= detail::bit_of(t.out, t.outs, r, TUTTI_NET_RELEASE, down);
  return t;
}

}  // namespace

// --- who is there --------------------------------------------------------------------------------

std::vector<std::uint8_t> discoverer::written(node_id origin, const report& r) const {
  const std::size_t links = std::min(r.node.links.size(), most_links);
  std::vector<std::uint8_t> p(head_bytes + link_bytes * links + check_bytes);
  std::copy_n(magic, 4, p.begin());
  p[4] = version;
  p[5] = reports;
  tutti_net_put16(&p[6], static_cast<__u16>(links));
  tutti_net_put64(&p[8], origin);
  tutti_net_put32(&p[16], r.sequence);
  std::memcpy(&p[20], &r.node.ip, 4);
  std::copy_n(r.node.mac, 6, &p[24]);
  tutti_net_put64(&p[32], r.digest);
  for (std::size_t i = 0; i < links; ++i) {
    std::uint8_t* const at = &p[head_bytes + link_bytes * i];
    tutti_net_put16(at, static_cast<__u16>(r.node.links[i].port));
    tutti_net_put16(at + 2, static_cast<__u16>(r.node.links[i].there));
    tutti_net_put64(at + 4, r.node.links[i].to);
  }
  const std::size_t end = p.size() - check_bytes;
  tutti_net_put64(&p[end], check_of({p.data(), end}, with_.key));
  return p;
}

found_network discoverer::network() const {
  found_network all;
  found_node& mine = all[with_.id];
  mine.ip = with_.ip;
  std::copy_n(with_.mac, 6, mine.mac);
  for (const auto& [where, h] : neighbours_) mine.links.push_back(h.link);
  std::vector<node_id> reached{with_.id};
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const found_link& l : all.at(reached[i]).links) {
      const auto r = reports_.find(l.to);
      if (r != reports_.end() && all.try_emplace(l.to, r->second.node).second)
        reached.push_back(l.to);
    }
  return all;
}

std::uint64_t discoverer::digest() const {
  tutti_net_siphash s;
  const tutti_net_key none{0, 0};
  tutti_net_sip_begin(&s, &none);
  for (const auto& [id, node] : network()) {
    tutti_net_sip_word(&s, id);
    tutti_net_sip_word(&s, node.ip);
    for (const found_link& l : node.links) {
      tutti_net_sip_word(&s, (std::uint64_t{l.port} << 32 | l.there) + 1);
      tutti_net_sip_word(&s, l.to);
    }
  }
  return tutti_net_sip_end(&s);
}

bool discoverer::agreed() const {
  if (is_crowded()) return false;
  const found_network all = network();
  for (const auto& [id, node] : all)
    for (const found_link& l : node.links) {
      const auto other = all.find(l.to);
      const found_link back{l.there, id, l.port};
      if (other == all.end() || !std::ranges::binary_search(other->second.links, back))
        return false;
    }
  const std::uint64_t mine = digest();
  return std::ranges::all_of(all, [&](const auto& node) {
    return node.first == with_.id || reports_.at(node.first).digest == mine;
  });
}

void discoverer::report_links(const output& out) {
  report mine;
  mine.sequence = ++sequence_;
  mine.digest = digest();
  mine.node = network().at(with_.id);
  const auto packet = written(with_.id, mine);
  for (unsigned port = 0; port < with_.ports; ++port) out(port, packet);
}

void discoverer::tick(const output& out) {
  ++now_;
  std::erase_if(neighbours_, [&](const auto& n) { return now_ - n.second.tick > with_.patience; });
  std::erase_if(reports_, [&](const auto& r) { return now_ - r.second.tick > 5 * with_.patience; });
  const std::uint64_t seen = digest();
  settled_ = agreed() && seen == last_digest_ ? settled_ + 1 : 0;
  last_digest_ = seen;
  for (unsigned port = 0; port < with_.ports; ++port) {
    std::vector<std::uint8_t> p(head_bytes + check_bytes);
    std::copy_n(magic, 4, p.begin());
    p[4] = version;
    p[5] = greets;
    tutti_net_put16(&p[6], static_cast<__u16>(port));
    tutti_net_put64(&p[8], with_.id);
    tutti_net_put64(&p[head_bytes], check_of({p.data(), head_bytes}, with_.key));
    out(port, p);
  }
  report_links(out);
}

void discoverer::receive(unsigned port, std::span<const std::uint8_t> packet, const output& out) {
  const std::uint8_t* const p = packet.data();
  if (packet.size() < head_bytes + check_bytes || std::memcmp(p, magic, 4) != 0 || p[4] != version)
    return;
  const std::size_t links = p[5] == reports ? tutti_net_get16(p + 6) : 0;
  const std::size_t end = head_bytes + link_bytes * links;
  // An Ethernet frame may have padding behind it.
  if (links > most_links || packet.size() < end + check_bytes ||
      check_of(packet.first(end), with_.key) != tutti_net_get64(p + end))
    return;
  const node_id origin = tutti_net_get64(p + 8);
  if (p[5] == greets) {
    // A port that leads back to another one of this node is no way to anybody.
    if (origin == with_.id) return;
    if (neighbours_.size() >= most_links && !neighbours_.contains({port, origin})) {
      refused_at_ = now_;
      return;
    }
    heard& h = neighbours_[{port, origin}];
    h.link = {port, origin, tutti_net_get16(p + 6)};
    h.tick = now_;
    return;
  }
  if (p[5] != reports || origin == with_.id ||
      (reports_.size() >= most_nodes && !reports_.contains(origin)))
    return;
  report r;
  r.sequence = tutti_net_get32(p + 16);
  report& known = reports_[origin];
  // A node that begins again counts from 1 again; its last report is forgotten by then, or it is
  // by the time that the new ones have come as far.
  if (known.sequence != 0 && static_cast<std::int32_t>(r.sequence - known.sequence) <= 0) return;
  r.digest = tutti_net_get64(p + 32);
  std::memcpy(&r.node.ip, p + 20, 4);
  std::copy_n(p + 24, 6, r.node.mac);
  for (std::size_t i = 0; i < links; ++i) {
    const std::uint8_t* const at = p + head_bytes + link_bytes * i;
    r.node.links.push_back({tutti_net_get16(at), tutti_net_get64(at + 4), tutti_net_get16(at + 2)});
  }
  std::ranges::sort(r.node.links);
  r.tick = now_;
  known = std::move(r);
  for (unsigned other = 0; other < with_.ports; ++other)
    if (other != port) out(other, packet.first(end + check_bytes));
}

// --- who does what -------------------------------------------------------------------------------

std::vector<engine_row> engine_rows(const found_plan& plan, unsigned ports) {
  const tutti_net_table& t = plan.table;
  const auto bits_of = [&](std::uint64_t slots, const tutti_net_link* links,
                           const std::map<rank_t, unsigned>& port) {
    std::uint32_t bits = slots & 1;
    for (unsigned slot = 1; slot < TUTTI_NET_SLOTS; ++slot) {
      if ((slots >> slot & 1) == 0) continue;
      const unsigned at = port.at(links[slot].rank);
      if (at >= ports) throw std::invalid_argument("the engine has no such port");
      bits |= std::uint32_t{1} << (1 + at + (links[slot].kind == TUTTI_NET_RELEASE ? ports : 0));
    }
    return bits;
  };
  std::vector<engine_row> rows;
  for (unsigned r = 0; r < t.rows; ++r)
    rows.push_back(
        {bits_of(t.row[r].need, t.in, plan.port_in), bits_of(t.row[r].send, t.out, plan.port_out)});
  return rows;
}

std::optional<found_plan> plan_of(const found_network& all, node_id me, unsigned wish) {
  std::vector<node_id> ids;
  for (const auto& [id, node] : all) ids.push_back(id);
  const auto n = static_cast<rank_t>(ids.size());
  const auto number_of = [&](node_id id) {
    return static_cast<rank_t>(std::ranges::lower_bound(ids, id) - ids.begin());
  };
  graph g(n);
  bool has_segment = false;
  std::size_t edges = 0;
  for (rank_t v = 0; v < n; ++v) {
    std::map<unsigned, unsigned> on_port;
    for (const found_link& l : all.at(ids[v]).links) {
      if (!all.contains(l.to)) return {};
      g[v].push_back(number_of(l.to));
      has_segment = has_segment || ++on_port[l.port] > 1;
    }
    std::ranges::sort(g[v]);
    g[v].erase(std::unique(g[v].begin(), g[v].end()), g[v].end());
    edges += g[v].size();
  }
  const auto far = distances(g, 0);
  if (std::ranges::find(far, ~0u) != far.end()) return {};
  edges /= 2;

  // The shape, and the order of ranks that suits each topology; an empty one does not fit.
  found_plan plan;
  const rank_t centre = centre_of(g);
  const bool is_complete = edges == std::size_t{n} * (n - 1) / 2;
  const shaped_tree tree = tree_from(g, centre);
  auto ring = along_ring(g);
  const auto cube = along_cube(g);
  // Two cables between two nodes.
  const bool is_pair = n == 2 && all.at(ids[0]).links.size() == 2;
  if (is_pair) ring = std::vector<rank_t>{0, 1};
  std::vector<rank_t> order;
  const auto take = [&](unsigned topology, const char* shape, const std::vector<rank_t>& ranks) {
    plan.topology = topology;
    plan.shape = shape;
    order = ranks;
  };
  const auto depth = distances(g, centre);
  const bool is_star = n > 2 && edges == n - 1 && *std::ranges::max_element(depth) == 1;
  if (is_complete && (has_segment || n > 4))
    take(n < TUTTI_NET_SLOTS ? TUTTI_NET_STAR : TUTTI_NET_TREE, has_segment ? "segment" : "graph",
         tree.order);
  else if (is_pair)
    take(TUTTI_NET_RING, "ring", *ring);
  else if (is_star)
    take(TUTTI_NET_STAR, "star", tree.order);
  else if (edges == n - 1)
    take(TUTTI_NET_TREE, "tree", tree.order);
  else if (cube)
    take(TUTTI_NET_BUTTERFLY, "butterfly", *cube);
  else if (ring)
    take(TUTTI_NET_RING, "ring", *ring);
  else
    take(TUTTI_NET_TREE, "graph", tree.order);
  if (wish != 0 && wish != plan.topology) {
    plan.topology = wish;
    if (is_complete && wish != TUTTI_NET_SWITCH && (wish != TUTTI_NET_STAR || n < TUTTI_NET_SLOTS))
      order = tree.order;
    else if (wish == TUTTI_NET_TREE)
      order = tree.order;
    else if (wish == TUTTI_NET_RING && ring)
      order = *ring;
    else if (wish == TUTTI_NET_BUTTERFLY && cube)
      order = *cube;
    else
      throw std::invalid_argument("this network, a " + plan.shape + " of " + std::to_string(n) +
                                  ", cannot be a " + std::string(topology_names[wish]));
  }
  std::vector<rank_t> rank_of(n);
  for (rank_t r = 0; r < n; ++r) {
    plan.nodes.push_back(ids[order[r]]);
    rank_of[order[r]] = r;
  }
  const rank_t mine = number_of(me);
  plan.rank = rank_of[mine];
  // In a network where not all are neighbours, a tree is the one that its cables are.
  plan.table = plan.topology == TUTTI_NET_TREE && !is_complete
                   ? table_of(tree, plan.rank)
                   : make_table(plan.topology, n, plan.rank);
  // The lowest port of several, and for what comes in along a pair the other end of the first.
  for (const found_link& l : all.at(me).links) {
    const rank_t r = rank_of[number_of(l.to)];
    plan.port_out.try_emplace(r, l.port);
    plan.port_in.try_emplace(r, l.port);
  }
  if (is_pair && plan.topology == TUTTI_NET_RING) {
    const std::vector<found_link>& first = all.at(ids[order[0]]).links;
    const bool is_head = plan.rank == 0;
    plan.port_out[1 - plan.rank] = is_head ? first[0].port : first[1].there;
    plan.port_in[1 - plan.rank] = is_head ? first[1].port : first[0].there;
  }
  return plan;
}

}  // namespace tutti::network
