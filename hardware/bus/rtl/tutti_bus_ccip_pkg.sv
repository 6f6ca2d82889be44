// SPDX-License-Identifier: Apache-2.0
/// The channels of CCI-P, the interface between the platform of an Intel Xeon with FPGA and an
/// accelerator, with the widths and the order of fields of Intel's reference manual; a cast converts
/// to the types of the platform's own package. hardware/driver/feature_header.hpp has the numbers of
/// the device feature header.
package tutti_bus_ccip_pkg;

  // c0 of Rx: answers to reads, messages, and requests for registers, which share the header.
  typedef struct packed {
    logic [1:0] vc_used;
    logic reserved1;
    logic hit_miss;
    logic [1:0] reserved0;
    logic [1:0] cl_num;
    logic [3:0] resp_type;
    logic [15:0] mdata;
  } c0_response_t;

  typedef struct packed {
    // In words of four bytes.
    logic [15:0] address;
    logic [1:0] length;
    logic reserved;
    logic [8:0] tid;
  } mmio_request_t;

  typedef struct packed {
    // A mmio_request_t with a request for a register.
    c0_response_t hdr;
    logic [511:0] data;
    logic rsp_valid;
    logic mmio_rd_valid;
    logic mmio_wr_valid;
  } c0_rx_t;

  typedef struct packed {
    logic [27:0] hdr;
    logic rsp_valid;
  } c1_rx_t;

  typedef struct packed {
    logic c0_almost_full;
    logic c1_almost_full;
    c0_rx_t c0;
    c1_rx_t c1;
  } rx_t;

  typedef struct packed {
    logic [1:0] vc_sel;
    logic [1:0] reserved1;
    logic [1:0] cl_len;
    logic [3:0] req_type;
    logic [5:0] reserved0;
    // In lines of 64 bytes.
    logic [41:0] address;
    logic [15:0] mdata;
  } c0_request_t;

  typedef struct packed {
    c0_request_t hdr;
    logic valid;
  } c0_tx_t;

  typedef struct packed {
    logic [5:0] reserved2;
    logic [1:0] vc_sel;
    logic sop;
    logic reserved1;
    logic [1:0] cl_len;
    logic [3:0] req_type;
    logic [5:0] reserved0;
    logic [41:0] address;
    logic [15:0] mdata;
  } c1_request_t;

  typedef struct packed {
    c1_request_t hdr;
    logic [511:0] data;
    logic valid;
  } c1_tx_t;

  typedef struct packed {
    logic [8:0] tid;
    logic mmio_rd_valid;
    logic [63:0] data;
  } c2_tx_t;

  typedef struct packed {
    c0_tx_t c0;
    c1_tx_t c1;
    c2_tx_t c2;
  } tx_t;

  localparam logic [3:0] ResponseReadLine = 4'h0;
  localparam logic [3:0] ResponseMessage = 4'h4;
  // A read that keeps the line in the FPGA's cache, so that polling costs the processor nothing.
  localparam logic [3:0] RequestReadShared = 4'h1;
  localparam logic [3:0] RequestWriteInvalid = 4'h0;
  // The coherent link, over which requests for one line stay in order.
  localparam logic [1:0] ChannelCoherent = 2'd1;
  localparam logic [1:0] LengthFour = 2'd0;
  localparam logic [1:0] LengthEight = 2'd1;

  /// The device feature header at address 0: an accelerator (type 1), the end of the list.
  localparam logic [63:0] FeatureHeader = {4'd1, 19'd0, 1'b1, 24'd0, 4'd0, 12'd0};
  /// aa60c3ce-770e-577e-93ff-c255400aa53c: version 5, of the name "tutti counting barrier unit".
  localparam logic [127:0] AfuId = 128'haa60c3ce_770e_577e_93ff_c255400aa53c;
  // Byte addresses of the header's registers.
  localparam logic [17:0] RegHeader = 18'h0_0000;
  localparam logic [17:0] RegIdLow = 18'h0_0008;
  localparam logic [17:0] RegIdHigh = 18'h0_0010;
  localparam logic [17:0] RegNext = 18'h0_0018;
  // Requests that the port refused: writes of another length than eight bytes, and hints.
  localparam logic [17:0] RegRefused = 18'h0_0028;
  // The registers of the unit: 64 KiB from here.
  localparam logic [17:0] UnitBase = 18'h1_0000;
endpackage
