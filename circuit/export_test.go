package circuit

// Normal is [Config.normal].
func Normal(c Config) Config { return c.normal() }
