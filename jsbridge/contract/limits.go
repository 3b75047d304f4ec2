package contract

import (
	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/seed-76f09577/turnwire/wasm/upload"
)

// What an option is that nobody gave (profile, "Time limits" and "Files"). Times are milliseconds.
const (
	DefaultMaxRetries    = 2
	DefaultTimeout       = 60_000
	DefaultIdleTimeout   = 120_000
	DefaultInterval      = upload.DefaultInterval
	DefaultMaxInterval   = upload.DefaultMaxInterval
	DefaultWaitTimeout   = 600_000
	DefaultConcurrency   = upload.DefaultConcurrency
	DefaultBlockTries    = upload.DefaultBlockTries
	DefaultBlockTimeout  = 60_000
	DefaultDataTimeout   = 120_000
	DefaultReportTimeout = 300_000
)

// What a page tells the others by itself, in the place of its module.
const (
	Hello = retry.Hello
	Gone  = retry.Gone
)
