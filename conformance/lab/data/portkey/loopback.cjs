// The gateway has no option for the address it listens on and takes them all; the lab stays on loopback.
const net = require("node:net");
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, host, ...rest) {
  return listen.call(this, port, typeof port === "number" && host === undefined ? "127.0.0.1" : host, ...rest);
};
