-- What the clients do: of ten requests, seven show a note, one lists some, and two replace one. Nothing is added, so
-- the number of notes, and the memory that they take, stay the same.

local notes = 100
local threads = 0

-- Each thread has random numbers of its own, the same in every run.
function setup(thread)
  threads = threads + 1
  thread:set("seed", threads)
end

function init()
  math.randomseed(seed)
end

function request()
  local path = "/notes/" .. math.random(notes)
  local kind = math.random(10)
  if kind <= 7 then
    return wrk.format("GET", path)
  elseif kind == 8 then
    return wrk.format("GET", "/notes?limit=20&after=" .. math.random(notes - 20))
  else
    return wrk.format("PUT", path, { ["Content-Type"] = "application/json" }, '{"title": "Tea", "body": "Buy some."}')
  end
end

-- Prints one line: requests, requests per second, p50 and p99 in milliseconds, answers other than 2xx, socket errors.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("result %d %.1f %.3f %.3f %d %d\n",
    summary.requests, summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
