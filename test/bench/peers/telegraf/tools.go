//go:build tools

package tools

import _ "github.com/influxdata/telegraf/cmd/telegraf"
